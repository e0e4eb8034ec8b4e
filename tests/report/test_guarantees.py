"""What a backend guarantees, and what was seen of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from conformance.report import ClauseText, read_run, summarise
from conformance.report.formats.html import as_html
from conformance.report.formats.markdown import as_markdown
from conformance.runner.records.record import BackendEntry

LAW: Final = ClauseText(
    op="determinism",
    id="determinism.C1",
    requirement="may",
    text="Again is alike.",
    shared=True,
    guarantee="run_to_run",
)


@pytest.mark.parametrize(
    ("given", "seen", "words", "state"),
    [
        (True, "held", "given; held in all 2 cases", "pass"),
        (False, "held", "not given; held in all 2 cases, so it might be given", "pass"),
        (False, "broken", "not given; broken in 1 of 2 cases", "differs"),
    ],
)
def test_a_guarantee_is_shown_with_what_its_cases_came_to(
    tiny: Callable[..., Any],
    record: Callable[..., Any],
    specification: tuple[ClauseText, ...],
    given: bool,
    seen: str,
    words: str,
    state: str,
) -> None:
    entry = BackendEntry(name="acme", description={}, claims={}, guarantees=("run_to_run",) if given else ())
    records = [record("a", clauses={"shift.C1": "held", "determinism.C1": held}) for held in ("held",)]
    records.append(record("b", clauses={"shift.C1": "held", "family.C1": "held", "determinism.C1": seen}))
    report = summarise([read_run(tiny(*records, backends=(entry,)))], (*specification, LAW))
    (backend,) = report.backends
    assert backend.guarantees == {"run_to_run": words}
    assert backend.verdict == "conformant"
    assert backend.must.held == 2 + given
    assert next(cell.state for cell in report.cells if cell.clause == "determinism.C1") == state
    assert words in as_markdown(report)
    assert words in as_html(report)


def test_a_broken_guarantee_is_a_broken_must(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    entry = BackendEntry(name="acme", description={}, claims={}, guarantees=("run_to_run",))
    clauses = {"shift.C1": "held", "family.C1": "held", "determinism.C1": "broken"}
    bad = record("b", outcome="failed", clauses=clauses, blame="determinism.C1", requirement="must")
    report = summarise([read_run(tiny(record("a"), bad, backends=(entry,)))], (*specification, LAW))
    assert report.backends[0].verdict == "not_conformant"
    assert report.backends[0].guarantees == {"run_to_run": "given; broken in 1 of 1 cases"}
