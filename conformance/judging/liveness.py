"""Comparisons about programs in which ranks go their own ways, are late or die: who ends, and what is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import numpy as np

from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.health import health_case
from conformance.cases.tensor.dtypes import kind, logical
from conformance.cases.tensor.tensor import to_array
from conformance.judging.clause import SILENT
from conformance.judging.compare import Difference, missing, same, unlike
from conformance.judging.numbers.admissible import outside
from conformance.judging.numbers.bools import WAYS, Block, miscounted
from conformance.judging.numbers.contributions import FoldedResult, contributions
from conformance.judging.numbers.integer_mean import misdivided
from conformance.judging.numbers.recommended_elements import minus_zeros_among, nan_among, spared
from conformance.judging.subject import Subject
from conformance.reference.reductions import Terms
from conformance.reference.spmd import evaluate


def ended(subject: Subject, seen: Observation) -> str | None:
    """Demand that every rank that is not to die answered or raised."""
    for rank, error in enumerate(seen.errors):
        if error is not None and error.category == "no_answer" and rank not in subject.case.dying:
            return f"rank {rank}: {error.kind}: {error.message}"
    return None


def others_right(subject: Subject, seen: Observation) -> str | None:
    """Demand an answer of every rank that can go on and did not raise, and that it is right.

    Nothing is said of elements that a *should* settles (extremes beside a NaN, zeros of sums of -0.0 alone) and of
    positions beside a NaN, and of sums of bools and means of integers no more than a *must* says of them; nor is
    anything of what was folded of folded floats, if several values are right, nor of ranks that can go on and give no
    answer, of which ``liveness.C1`` speaks.
    """
    assert subject.rejected is not None
    raised = {rank for rank, error in enumerate(seen.errors) if error is not None}
    expected = {
        name: [None if rank in raised else block for rank, block in enumerate(blocks)]
        for name, blocks in subject.rejected.results.items()
    }
    absent = missing(expected, seen)
    if absent is not None:
        return absent
    given = {name: blocks for name, blocks in expected.items() if name in seen.results}
    problem = _wrong(Subject(subject.case, given, numbers=subject.numbers), seen)
    hung = {rank for rank in raised if (error := seen.errors[rank]) is not None and error.category == "no_answer"}
    left = any(blocks[rank] is not None for blocks in subject.rejected.results.values() for rank in hung)
    return problem or (SILENT if left else None)


def _wrong(about: Subject, seen: Observation) -> str | None:
    """Return which result of those that can go on is not right, if one is none."""
    folded, positions = contributions(about.case), _positions_beside_nan(about.case)
    counted = {name: each for name, each in folded.items() if _counted(each)}
    rest = {name: blocks for name, blocks in about.expected.items() if name not in counted and name not in positions}
    others = Subject(about.case, rest, numbers=about.numbers)
    wrong = outside(others, spared(others, seen, [nan_among(others), minus_zeros_among(others)]))
    return wrong or next(_miscounted(about, seen, counted, positions), None)


def _positions_beside_nan(case: Case) -> set[str]:
    """Return the results that are positions of extremes, where some number of the case is a NaN."""
    numbers = [block for operand in case.inputs.values() for block in map(to_array, operand.blocks)]
    floats = [block for block in numbers if kind(logical(block.dtype)) in ("float", "complex")]
    with np.errstate(invalid="ignore"):  # ml_dtypes widens a signalling NaN, and has a right result
        nan = any(np.isnan(block).any() for block in floats)
    return {name for step in case.program.steps if nan and step.op == "arg_reduce" for name in step.outputs}


def _counted(folded: FoldedResult) -> bool:
    """Return whether a *should* settles the dtype of a reduction: of a mean of integers, or a sum of bools."""
    whole = kind(folded.dtype) in ("bool", "integer") if folded.dtype else False
    return whole and (folded.op == "mean" or (folded.dtype == "bool" and folded.op in WAYS))


def _miscounted(
    about: Subject, seen: Observation, counted: Mapping[str, FoldedResult], positions: AbstractSet[str]
) -> Iterator[str]:
    """Yield which sums of bools, means of integers and positions no implementation gives."""
    for name in about.expected.keys() & (counted.keys() | positions):
        pairs = enumerate(zip(about.expected[name], seen.results[name], strict=True))
        blocks = [(rank, want, got) for rank, (want, got) in pairs if want is not None and got is not None]
        wrong: Iterator[str | None]
        if name not in counted:
            wrong = (unlike(want, got) and f"on rank {rank}: {unlike(want, got)}" for rank, want, got in blocks)
        elif counted[name].op in WAYS:
            wrong = iter([miscounted(blocks, counted[name].op)])
        else:
            wrong = (_misdivided(name, block, counted[name].ranks[block[0]]) for block in blocks)
        yield from (f"{name} {each}" for each in wrong if each)


def _misdivided(name: str, block: Block, terms: Terms | None) -> str | None:
    rank, want, got = block
    return misdivided(Difference(name, rank, want, got, ""), terms) if terms else None


def healthy(subject: Subject, seen: Observation) -> str | None:
    """Demand that the same ranks sum rightly afterwards."""
    if seen.health is None:
        return "nothing was run afterwards"
    case = health_case(subject.case)
    problem = same(Subject(case, evaluate(case)), seen.health)
    return problem and f"afterwards: {problem}"
