"""Comparisons about programs in which ranks go their own ways, are late or die: who ends, and what is left."""

from __future__ import annotations

import numpy as np

from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.health import health_case
from conformance.cases.tensor.dtypes import kind, logical
from conformance.cases.tensor.tensor import to_array
from conformance.judging.clause import SILENT
from conformance.judging.compare import missing, same
from conformance.judging.numbers.admissible import outside
from conformance.judging.numbers.contributions import FoldedResult, contributions
from conformance.judging.numbers.order import SUMS, all_minus_zero
from conformance.judging.subject import Subject
from conformance.reference.reductions import ARITHMETIC, ORDER
from conformance.reference.spmd import evaluate


def ended(subject: Subject, seen: Observation) -> str | None:
    """Demand that every rank that is not to die answered or raised."""
    for rank, error in enumerate(seen.errors):
        if error is not None and error.category == "no_answer" and rank not in subject.case.dying:
            return f"rank {rank}: {error.kind}: {error.message}"
    return None


def others_right(subject: Subject, seen: Observation) -> str | None:
    """Demand an answer of every rank that can go on and did not raise, and that it is right.

    Nothing is said of results in which a *should* settles something (sums of bools, means of integers, extremes beside
    a NaN, sums of -0.0 alone), nor of what was folded of folded floats, if several values are right; nor of ranks that
    can go on and give no answer, of which ``liveness.C1`` speaks.
    """
    assert subject.rejected is not None
    raised = {rank for rank, error in enumerate(seen.errors) if error is not None}
    expected = {
        name: [None if rank in raised else block for rank, block in enumerate(blocks)]
        for name, blocks in subject.rejected.results.items()
    }
    absent = missing(expected, seen)
    loose = _loose(subject.case)
    settled = {name: blocks for name, blocks in expected.items() if name in seen.results and name not in loose}
    problem = absent or outside(Subject(subject.case, settled, numbers=subject.numbers), seen)
    hung = {rank for rank in raised if (error := seen.errors[rank]) is not None and error.category == "no_answer"}
    left = any(blocks[rank] is not None for blocks in subject.rejected.results.values() for rank in hung)
    return problem or (SILENT if left else None)


def _loose(case: Case) -> set[str]:
    """Return the results of which a *should* settles an element, or the dtype."""
    numbers = [block for operand in case.inputs.values() for block in map(to_array, operand.blocks)]
    floats = [block for block in numbers if kind(logical(block.dtype)) in ("float", "complex")]
    with np.errstate(invalid="ignore"):  # ml_dtypes widens a signalling NaN, and has a right result
        nan = any(np.isnan(block).any() for block in floats)
    if nan:
        positions = {name for step in case.program.steps if step.op == "arg_reduce" for name in step.outputs}
    else:
        positions = set()
    return positions | {name for name, folded in contributions(case).items() if folded.op and _open(folded)}


def _open(folded: FoldedResult) -> bool:
    """Return whether a *should* settles an element of a reduction, or its dtype."""
    each = [terms for terms in folded.ranks if terms]
    if kind(folded.dtype) in ("bool", "integer"):
        return folded.op == "mean" or (kind(folded.dtype) == "bool" and folded.op in ARITHMETIC)
    if folded.op in ORDER:
        return any(np.isnan(block).any() for terms in each for block in terms)
    return folded.op in SUMS and any(all_minus_zero(terms, folded.factor) for terms in each)


def healthy(subject: Subject, seen: Observation) -> str | None:
    """Demand that the same ranks sum rightly afterwards."""
    if seen.health is None:
        return "nothing was run afterwards"
    case = health_case(subject.case)
    problem = same(Subject(case, evaluate(case)), seen.health)
    return problem and f"afterwards: {problem}"
