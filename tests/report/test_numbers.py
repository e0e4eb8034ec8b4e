"""The classes of results that depend on the order of operations, in every form of the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.report import ClauseText, read_run, summarise
from conformance.report.counts.numbers import ReachedClasses
from conformance.report.formats.html import as_html
from conformance.report.formats.json import as_json, parse_json
from conformance.report.formats.markdown import as_markdown
from tests.report.conftest import unfolded


def test_cases_count_by_their_strongest_class_and_weakest_comes_last(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    some = [
        record("a", dtype="bfloat16", classes=("wide_accumulator", "within_bound")),
        record("b", dtype="bfloat16", classes=("exact",)),
        record("c", dtype="bfloat16", classes=("exact",)),
        record("d", dtype="float32"),
    ]
    report = summarise([read_run(tiny(*some))], specification)
    assert report.classes == (
        ReachedClasses(backend="acme", op="shift", dtype="bfloat16", cases={"exact": 2, "wide_accumulator": 1}),
    )
    assert parse_json(as_json(report).encode()).classes == report.classes
    assert "| shift | bfloat16 | exact 2, wide accumulator 1 |" in as_markdown(report)
    assert "<td>exact 2, wide accumulator 1</td>" in unfolded(as_html(report))


def test_where_no_order_showed_the_report_is_silent(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    report = summarise([read_run(tiny(record("a")))], specification)
    assert "How do sums round?" not in as_html(report)
    assert "depends on the order" not in as_markdown(report)
