"""What a backend chooses about numbers, and whether any case showed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.report import ClauseText, read_run, summarise
from conformance.report.formats.html import as_html
from conformance.report.formats.markdown import as_markdown
from conformance.runner.backend.silent_clauses import never_seen
from conformance.runner.records.record import BackendEntry


def test_a_word_is_shown_with_its_cases_or_as_never_seen(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    declared = {"mean": {"float16": "reciprocal"}, "overflow": {"float32": "saturated"}}
    entry = BackendEntry(name="acme", description={}, claims={}, number_model=declared)
    run = tiny(record("a", shown=("float16 mean reciprocal",)), record("b"), backends=(entry,))
    report = summarise([read_run(run)], specification)
    found = report.backends[0].number_model
    assert found["mean"] == "reciprocal for float16 (seen in 1 case)"
    assert found["overflow"] == "saturated for float32 (never seen)"
    assert found["subnormals"] == "kept"
    assert "never seen" in as_markdown(report)
    assert "never seen" in as_html(report)


def test_a_word_that_one_dtype_showed_was_seen() -> None:
    chosen = (
        ("float16", "accumulate", "float32"),
        ("bfloat16", "accumulate", "float32"),
        ("float32", "mean", "reciprocal"),
    )
    assert never_seen(chosen, ["bfloat16 accumulate float32"]) == ("mean reciprocal",)
