"""Comparisons about programs in which ranks go their own ways, are late or die: who ends, and what is left."""

from __future__ import annotations

from conformance.cases.observation import Observation
from conformance.cases.program.health import health_case
from conformance.cases.tensor.dtypes import kind
from conformance.judging.compare import missing, same
from conformance.judging.numbers.admissible import outside
from conformance.judging.numbers.contributions import Folded, contributions
from conformance.judging.subject import Subject
from conformance.reference.reductions import ARITHMETIC
from conformance.reference.spmd import evaluate


def ended(subject: Subject, seen: Observation) -> str | None:
    """Demand that every rank that is not to die answered or raised."""
    for rank, error in enumerate(seen.errors):
        if error is not None and error.category == "no_answer" and rank not in subject.case.dying:
            return f"rank {rank}: {error.kind}: {error.message}"
    return None


def others_right(subject: Subject, seen: Observation) -> str | None:
    """Demand an answer of every rank that can go on and did not raise, and that it is right.

    Nothing is said of what a *should* settles, sums of bools and means of integers, nor of what was folded of folded
    floats, if several values are right.
    """
    assert subject.rejected is not None
    raised = {rank for rank, error in enumerate(seen.errors) if error is not None}
    expected = {
        name: [None if rank in raised else block for rank, block in enumerate(blocks)]
        for name, blocks in subject.rejected.results.items()
    }
    absent = missing(expected, seen)
    folds = contributions(subject.case)
    given = {name: blocks for name, blocks in expected.items() if name in seen.results}
    settled = {name: blocks for name, blocks in given.items() if name not in folds or not _open(folds[name])}
    left = Subject(subject.case, settled, numbers=subject.numbers)
    return absent or (None if left.unsettled else outside(left, seen))


def _open(folded: Folded) -> bool:
    """Return whether a *should* settles a reduction, and its dtype."""
    family = kind(folded.dtype) if folded.op else ""
    return (family == "bool" and folded.op in ARITHMETIC) or (family == "integer" and folded.op == "mean")


def healthy(subject: Subject, seen: Observation) -> str | None:
    """Demand that the same ranks sum rightly afterwards."""
    if seen.health is None:
        return "nothing was run afterwards"
    case = health_case(subject.case)
    problem = same(Subject(case, evaluate(case)), seen.health)
    return problem and f"afterwards: {problem}"
