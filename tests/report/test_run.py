"""Reading run logs, whole, cut short and broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.report import ReportError, read_run


def test_a_whole_log_is_complete(tiny: Callable[..., Any], record: Callable[..., Any]) -> None:
    run = read_run(tiny(record("a"), record("b")))
    assert run.why_incomplete is None
    assert [r.case for r in run.records] == ["a", "b"]


def test_a_log_without_footer_is_incomplete(tiny: Callable[..., Any], record: Callable[..., Any]) -> None:
    assert "no footer" in read_run(tiny(record("a"), footer=False)).why_incomplete


def test_a_log_cut_inside_a_line_keeps_what_is_whole(tiny: Callable[..., Any], record: Callable[..., Any]) -> None:
    log = tiny(record("a"), record("b"), footer=False) / "run.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    run = read_run(log.parent)
    assert [r.case for r in run.records] == ["a"]
    assert "breaks off inside a line" in run.why_incomplete


def test_records_that_the_footer_counts_but_the_log_lacks_are_missed(
    tiny: Callable[..., Any], record: Callable[..., Any]
) -> None:
    log = tiny(record("a"), record("b"), record("c")) / "run.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert (
        read_run(log.parent).why_incomplete == "records are missing: the footer counts 3 passed of acme, the log has 2"
    )


def test_a_log_without_cases_is_incomplete(tiny: Callable[..., Any]) -> None:
    assert read_run(tiny()).why_incomplete == "the log has no case"


@pytest.mark.parametrize("rubbish", [b"not json", b'{"type":"case"}', b'{"type":"strange"}', b"\xff\xfe", b"[1]"])
def test_a_line_that_is_no_record_is_named(
    tiny: Callable[..., Any], record: Callable[..., Any], rubbish: bytes
) -> None:
    log = tiny(record("a")) / "run.jsonl"
    lines = log.read_bytes().splitlines()
    log.write_bytes(b"\n".join([lines[0], rubbish, *lines[1:], b""]))
    with pytest.raises(ReportError, match=r"run\.jsonl:2: ") as error:
        read_run(log.parent)
    assert "\n" not in str(error.value)


def test_a_folder_without_log_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"holds no run\.jsonl; `conformance run -o"):
        read_run(tmp_path)


def test_two_runs_in_one_log_are_refused(tiny: Callable[..., Any], record: Callable[..., Any]) -> None:
    log = tiny(record("a")) / "run.jsonl"
    log.write_bytes(log.read_bytes() * 2)
    with pytest.raises(ReportError, match="holds 2 headers"):
        read_run(log.parent)
