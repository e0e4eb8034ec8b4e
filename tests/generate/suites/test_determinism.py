"""Laws between results: each clause holds of the oracle and not of the mistake that is made for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.guarantees import PRESUPPOSES
from conformance.cases.declarations.terms import terms
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.generate.calls.relating import DTYPES, REDUCTIONS, VALUES, values
from conformance.judging.numbers.order import order_shows
from conformance.judging.relations import LAWS
from conformance.judging.verdict import Verdict, judge
from conformance.qualification.mutants import determinism as mistakes
from conformance.reference.reductions import ORDER, fold
from conformance.runner.meaning import bound, meaning
from conformance.specs.suites.determinism import SUITE

LOST = (1.0, 2.0**24, -(2.0**24))
"""What three members hold: 0 in this order, 1 in the order round about."""

Blocks = Sequence[Sequence[float]]


def sums(*calls: tuple[Blocks, ...], groups: Sequence[Groups | None] = (), world: int = 3, op: str = "sum") -> Case:
    """Return one all_reduce after the other; a call is its operands, each a block for every rank."""
    inputs, steps = {}, []
    for index, operands in enumerate(calls):
        names = [f"x{index}{at}" for at in range(len(operands))]
        for name, blocks in zip(names, operands, strict=True):
            tensors = tuple(from_array(np.array(block, np.float32)) for block in blocks)
            inputs[name] = Operand(blocks=tensors, layouts=("contiguous",) * world)
        outputs = tuple(name.replace("x", "y") for name in names)
        over = groups[index] if groups else None
        steps.append(
            Step(op="all_reduce", inputs=tuple(names), outputs=outputs, axes=("i",), groups=over, attrs={"op": op})
        )
    results = tuple(name for step in steps for name in step.outputs)
    return Case(program=Program(mesh=(Axis("i", world),), steps=tuple(steps), results=results), inputs=inputs)


def wide(size: int) -> Blocks:
    """Return blocks of ``size`` equal elements."""
    return [[value] * size for value in LOST]


AGAIN = sums((wide(1),), (wide(1),), (wide(1),))
CASES = {
    mistakes.EveryRankBeginsWithItself: sums((wide(1),)),
    mistakes.LongMessagesTakeTheRing: sums((wide(64),), (wide(65),)),
    mistakes.TailFoldsBackwards: sums((wide(5),)),
    mistakes.FoldsByRankNumber: sums((wide(1),), ([[LOST[0]], [LOST[2]], [LOST[1]]],), groups=(None, ((0, 2, 1),))),
    mistakes.EverySecondGroupTurnsRound: sums(
        ([*wide(1), *wide(1)],), ([*wide(1), *wide(1)],),
        groups=(((0, 1, 2), (3, 4, 5)), ((3, 4, 5), (0, 1, 2))), world=6,
    ),
    mistakes.BucketsFoldBackwards: sums((wide(1),), (wide(1), wide(2))),
    mistakes.TunerGoesOn: sums((wide(1),), (wide(2),), (wide(1),)),
    mistakes.AddsInOrderOfArrival: AGAIN,
}  # fmt: skip


def judged(case: Case, backend: Reference) -> Verdict:
    return judge(meaning(case), backend.execute(case), bound(terms(PRESUPPOSES)))


@pytest.mark.parametrize("mistake", CASES, ids=lambda mistake: mistake.breaks)
def test_a_law_holds_of_the_oracle_and_not_of_its_mistake(mistake: type[Reference]) -> None:
    case = CASES[mistake]
    assert judged(case, Reference()).clauses[mistake.breaks] == "held"
    assert judged(case, mistake()).clauses[mistake.breaks] == "broken"


def test_every_guarantee_has_a_law_and_a_clause() -> None:
    assert set(LAWS) == set(PRESUPPOSES) == {clause.guarantee for clause in SUITE.clauses}


def test_what_is_told_are_two_elements_that_should_be_equal() -> None:
    detail = judged(AGAIN, mistakes.AddsInOrderOfArrival()).detail
    assert detail == "y00[0] on rank 0 is 1.0 (0x3f800000) but y20[0] on rank 0 is 0.0 (0x00000000), of equal columns"


def test_where_every_order_gives_one_value_the_laws_are_silent_and_the_value_is_judged() -> None:
    seen = judged(sums(([[1], [2], [3]],), ([[1], [2], [3]],)), Reference())
    assert "all_reduce.C1" in seen.clauses
    assert not any(name.startswith("determinism") for name in seen.clauses)
    assert {"numerics.C1", "determinism.C8"} <= judged(AGAIN, Reference()).clauses.keys()


@pytest.mark.parametrize("exclusive", [False, True])
def test_of_a_scan_behind_a_sum_that_rounds_no_law_speaks(exclusive: bool) -> None:
    case = sums((wide(3),))
    scan = Step(op="scan", inputs=("x00",), outputs=("z",), axes=("i",), attrs={"op": "sum", "exclusive": exclusive})
    program = replace(case.program, steps=(*case.program.steps, scan), results=("y00", "z"))
    seen = judged(replace(case, program=program), Reference())
    assert seen.outcome == "passed"
    assert not any(name.startswith("determinism") for name in seen.clauses)


def test_any_nan_is_as_good_as_another() -> None:
    case = sums(([[np.inf], [-np.inf], [2.0**24], [1.0]],), ([[np.inf], [-np.inf], [2.0**24], [1.0]],), world=4)
    seen = Reference().execute(case)
    (first, *others) = seen.results["y00"]
    seen.results["y00"] = (from_array(np.array([0xFFC00001], np.uint32).view(np.float32)), *others)
    assert first is not None
    assert judge(meaning(case), seen, bound(terms(PRESUPPOSES))).outcome == "passed"


@pytest.mark.parametrize(
    ("members", "op", "shows"),
    [
        (LOST, "sum", True),
        ((1.0, 2.0**22, -(2.0**22)), "sum", False),
        ((0.5, 2.0**23, -(2.0**23)), "sum", True),
        ((3e38, 3e38, -3e38), "sum", True),
        ((3.0, 5.0, 7.0), "product", False),
        ((4097.0, 4097.0, 3.0), "product", True),
        ((2.0**100, 2.0**100, 2.0**-100), "product", True),
        (LOST, "max", False),
        ((0.0, -0.0, -1.0), "max", True),
        ((0.0, 0.0, -1.0), "min", False),
    ],
)
def test_order_shows_where_a_partial_result_may_be_inexact_or_both_zeros_meet(
    members: Sequence[float], op: str, shows: bool
) -> None:
    assert order_shows(sums(([[member] for member in members],), op=op)) == shows


@pytest.mark.parametrize("dtype", sorted(set(DTYPES)))
@pytest.mark.parametrize("op", sorted(set(REDUCTIONS) - ORDER.keys()))
def test_some_order_of_the_values_that_are_drawn_gives_other_bits(dtype: str, op: str) -> None:
    drawn = values(dtype, op).astype(NUMPY[dtype]).reshape(VALUES, 1)
    orders = [np.roll(drawn, -start, axis=0)[:3] for start in range(VALUES)]
    assert any(fold(list(order), op, 0.1).tobytes() != fold(list(order[::-1]), op, 0.1).tobytes() for order in orders)
