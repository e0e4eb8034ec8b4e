"""The table of sharded steps, in every form of the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.judging.sharded.step_outcome import StepSeen
from conformance.report import ClauseText, read_run, summarise
from conformance.report.formats.html import as_html
from conformance.report.formats.json import as_json, parse_json
from conformance.report.formats.markdown import as_markdown
from tests.report.conftest import unfolded


def step(found: str, moved: int | None = None) -> StepSeen:
    return StepSeen(op="flip", given="even", made="whole", found=found, moved=moved, size=64)


def test_steps_are_counted_with_the_bytes_they_moved(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    some = [record("a", steps=(step("right", 96), step("wrong"))), record("b", steps=(step("refused"),))]
    report = summarise([read_run(tiny(*some))], specification)
    (row,) = report.placements
    assert (row.right, row.wrong, row.refused, row.moved, row.size) == (1, 1, 1, 96, 64)
    assert parse_json(as_json(report).encode()).placements == report.placements
    assert "| flip | even | whole | 1 wrong, 1 right, 1 refused moves 1.5 |" in as_markdown(report)
    assert "1 wrong, 1 right, 1 refused" in unfolded(as_html(report))


def test_a_report_without_sharded_steps_is_silent(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    report = summarise([read_run(tiny(record("a")))], specification)
    assert "sharded steps" not in as_html(report)
    assert "Sharded tensors" not in as_markdown(report)
