"""The words and signs a state is shown with, in every form of the report: never by colour alone."""

from __future__ import annotations

from typing import Final

from conformance.report.counts.tally import State
from conformance.report.summary import BackendSummary, Cell, ClauseCounts
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.records.power import Power

WORDS: Final[dict[State, str]] = {
    "fail": "fail",
    "should_fail": "should fails",
    "known": "known",
    "differs": "differs",
    "pass": "pass",
    "shadowed": "shadowed",
    "unsupported": "unsupported",
    "not_run": "not run",
}

GLYPHS: Final[dict[State, str]] = {
    "fail": "✗",
    "should_fail": "▲",
    "known": "◆",
    "differs": "≈",
    "pass": "✓",
    "shadowed": "◐",
    "unsupported": "○",
    "not_run": "–",
}

MEANINGS: Final[dict[State, str]] = {
    "fail": "a must clause is to blame for at least one failing case",
    "should_fail": "only should clauses are to blame",
    "known": "only known failures, with issue, owner and expiry, are to blame; they were replayed and still fail",
    "differs": "a may clause does not hold, or a source that the backend follows documents another meaning; reported, "
    "never counted against a backend",
    "pass": "held in every case that another clause does not explain",
    "shadowed": "broken only together with a clause that explains the failure; nothing shown by itself",
    "unsupported": "outside what the backend claims",
    "not_run": "no case spoke about it",
}

VERDICT_GLYPHS: Final = {
    "conformant": "✓",
    "partial": "✓",
    "not_conformant": "✗",
    "incomplete": "!",
    "inconclusive": "?",
}


def figure(cell: Cell) -> str:
    """Return the numbers of a cell: ``3 of 40 run`` to blame, ``40`` held, ``30 of 40`` where others say nothing.

    A failing cell divides by the cases that were judged, any other one by those that speak of it.
    """
    tally = cell.tally
    broken = tally.must + tally.should + tally.may or tally.known
    ran = tally.cases - sum(tally.outcomes.get(outcome, 0) for outcome in UNJUDGED)
    if broken:
        return f"{broken:,} of {ran:,} run"
    if ran and ran < tally.cases:
        return f"{ran:,} of {tally.cases:,} run"
    if tally.held and tally.held < tally.cases:
        return f"{tally.held:,} of {tally.cases:,}"
    return f"{tally.cases:,}" if tally.cases else ""


def held_of(counts: ClauseCounts) -> str:
    """Return ``41 of 42`` clauses."""
    return f"{counts.held} of {counts.total}"


FLAKY: Final = (
    "They came to different outcomes where nothing differed. That is neither a pass nor a failure, and a run with any "
    "certifies nothing."
)
"""What is said of flaky cases."""


def power_of(power: Power | None) -> str:
    """Return ``42 % of 310``: the share of the mutants within the claims that the judged cases kill."""
    if power is None or not power.within.mutants:
        return "not measured"
    return f"{power.within.share:.0%} of {power.within.mutants:,}"


def findings_of(backend: BackendSummary) -> str:
    """Return how many findings are a backend's, and how many of them are known."""
    known = f" + {backend.known_findings} known" if backend.known_findings else ""
    return f"{backend.findings}{known}"


STEPS: Final = (
    "Values that one step makes of stored tensors, by how operands and result lie on the devices: how many were right, "
    "wrong or refused, and the bytes that went from device to device for each byte of the operands, where a backend "
    "counts them."
)
"""What the table of sharded steps is of."""

TOPICS: Final = (
    "Cases by what a reader looks for under one name: how many keep all clauses of a topic, break one, or are right as "
    "a source has it that the backend follows and this specification does not. Where another backend of the report was "
    "judged by a case, it is told too whether it had no value here or was left out."
)
"""What the table of topics is of."""
