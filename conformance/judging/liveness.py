"""Comparisons about programs in which ranks go their own ways, are late or die: who ends, and what is left."""

from __future__ import annotations

from conformance.cases.observation import Observation
from conformance.cases.program.health import health_case
from conformance.judging.compare import differences, missing, same
from conformance.judging.numbers.order import order_shows
from conformance.judging.subject import Subject
from conformance.reference.spmd import evaluate


def ended(subject: Subject, seen: Observation) -> str | None:
    """Demand that every rank that is not to die answered or raised."""
    for rank, error in enumerate(seen.errors):
        if error is not None and error.category == "no_answer" and rank not in subject.case.dying:
            return f"rank {rank}: {error.kind}: {error.message}"
    return None


def others_right(subject: Subject, seen: Observation) -> str | None:
    """Demand an answer of every rank that can go on and did not raise: the reference's, where no other is right."""
    assert subject.rejected is not None
    raised = {rank for rank, error in enumerate(seen.errors) if error is not None}
    expected = {
        name: [None if rank in raised else block for rank, block in enumerate(blocks)]
        for name, blocks in subject.rejected.results.items()
    }
    absent = missing(expected, seen)
    if absent is not None or order_shows(subject.case):
        return absent
    given = {name: blocks for name, blocks in expected.items() if name in seen.results}
    return next((one.problem for one in differences(Subject(subject.case, given), seen)), None)


def healthy(subject: Subject, seen: Observation) -> str | None:
    """Demand that the same ranks sum rightly afterwards."""
    if seen.health is None:
        return "nothing was run afterwards"
    case = health_case(subject.case)
    problem = same(Subject(case, evaluate(case)), seen.health)
    return problem and f"afterwards: {problem}"
