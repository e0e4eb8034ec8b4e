"""JSON, Markdown, JUnit XML and badges say the same as the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from conformance.report import ClauseText, Report, read_run, summarise
from conformance.report.error import ReportError
from conformance.report.formats.badge import badge, badge_names
from conformance.report.formats.html import as_html
from conformance.report.formats.json import as_json, parse_json
from conformance.report.formats.junit import as_junit
from conformance.report.formats.markdown import as_markdown, quoted
from conformance.report.formats.markdown_text import escaped
from conformance.runner.records.record import BackendEntry

HOSTILE = "a|b\n# c <img> `d` ]]> & \x00\x1b \ufffe"


def hostile(tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]) -> Report:
    entry = BackendEntry(name=HOSTILE, description={}, claims={})
    bad = record("x", backend=HOSTILE, outcome="crashed", clauses={}, blame="shift.C1", detail=HOSTILE)
    return summarise([read_run(tiny(bad, backends=(entry,)))], specification)


def carried(report: Report) -> Report:
    """Return what JSON carries of a report: no counts by dtype, no cells that were not run, and no case files."""
    cells = tuple(replace(cell, by_dtype={}) for cell in report.cells if cell.state != "not_run")
    buckets = tuple(replace(bucket, example=replace(bucket.example, source=None)) for bucket in report.buckets)
    return replace(report, cells=cells, buckets=buckets)


def test_json_comes_back_the_same(sample_report: Report) -> None:
    assert any(cell.state == "not_run" for cell in sample_report.cells)
    assert parse_json(as_json(sample_report).encode()) == carried(sample_report)


def test_every_form_counts_the_same(sample_report: Report) -> None:
    data, page = json.loads(as_json(sample_report)), as_html(sample_report)
    root, text = ElementTree.fromstring(as_junit(sample_report)), as_markdown(sample_report)
    assert [backend["failing"] for backend in data["backends"]] == [b.failing for b in sample_report.backends]
    broken = sum(cell.state == "fail" and cell.clause is not None for cell in sample_report.cells)
    assert int(root.get("failures")) + int(root.get("errors")) == broken
    for found in sample_report.findings:
        many = f"{found.cases:,} case{'' if found.cases == 1 else 's'}"
        assert f"{found.requirement} · {many}" in page
        assert f"({found.requirement}, {escaped(found.outcome)}, {many})" in text
    for backend in sample_report.backends:
        assert sum(backend.outcomes.values()) == backend.cases
        assert f"<dd>{backend.cases:,}</dd>" in page


def test_other_json_is_no_report() -> None:
    with pytest.raises(ReportError, match="no report"):
        parse_json(b"[]")


def test_junit_counts_every_clause_once(sample_report: Report) -> None:
    root = ElementTree.fromstring(as_junit(sample_report))
    clauses = [cell for cell in sample_report.cells if cell.clause]
    assert int(root.get("tests")) == len(clauses) + len(sample_report.backends) == len(list(root.iter("testcase")))
    failing = sum(cell.state == "fail" for cell in clauses)
    assert int(root.get("failures")) + int(root.get("errors")) == failing > 0
    assert int(root.get("skipped")) == sum(c.state in {"unsupported", "not_run", "shadowed"} for c in clauses)


def test_junit_calls_a_crash_an_error_and_an_incomplete_run_too(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    bad = record("x", outcome="crashed", clauses={}, blame="shift.C1", detail="signal 11")
    root = ElementTree.fromstring(as_junit(summarise([read_run(tiny(bad, footer=False))], specification)))
    assert [error.get("type") for error in root.iter("error")] == ["incomplete", "crashed"]


def test_markdown_has_a_row_for_every_operation(sample_report: Report) -> None:
    text = as_markdown(sample_report)
    assert "| Operation | steady | hasty | sleepy |" in text
    assert sum(line.startswith("| all\\_") for line in text.splitlines()) == 3
    assert text.count("conformance replay cases/") == len(sample_report.buckets)


def test_hostile_strings_break_no_format(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    report = hostile(tiny, record, specification)
    text = as_markdown(report)
    assert "<img>" not in text
    tables = [line.replace("\\|", "") for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {3, 7, 8}
    ElementTree.fromstring(as_junit(report))
    ElementTree.fromstring(badge(report.backends[0]))
    assert parse_json(as_json(report).encode()) == carried(report)


def test_badges_say_the_verdict_in_words(sample_report: Report) -> None:
    names = badge_names(sample_report.backends)
    assert names == ("badge-steady.svg", "badge-hasty.svg", "badge-sleepy.svg")
    assert "not conformant" in badge(sample_report.backends[1])


@pytest.mark.parametrize(("word", "text"), [("a/b-c.json", "a/b-c.json"), ("a b", "'a b'"), ("it's", "'it'\"'\"'s'")])
def test_words_are_quoted_for_a_shell(word: str, text: str) -> None:
    assert quoted(word) == text
