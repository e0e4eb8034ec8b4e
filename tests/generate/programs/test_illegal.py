"""Where one thing is meant to be wrong it is, and all else is right."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from conformance.cases.case import Case
from conformance.cases.program.program import rank_groups
from conformance.generate.calls.mistakes import ways
from conformance.generate.choices import Draw, Goals
from conformance.generate.operations import DOMAINS as OF_OPERATIONS
from conformance.generate.suites import DOMAINS
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate
from conformance.runner.draws import Numbers, numbered


@pytest.mark.parametrize(
    ("op", "word", "clause"),
    [
        ("reduce_scatter", "axis", "reduce_scatter.C5"),
        ("permute", "pairs source", "pairs.C1"),
        ("permute", "pairs destination", "pairs.C2"),
        ("broadcast", "root beyond", "broadcast.C3"),
    ],
)
def test_a_call_that_is_to_be_wrong_in_one_way_is_refused_for_it(op: str, word: str, clause: str) -> None:
    domain, seen = OF_OPERATIONS[op], Counter[str]()
    for number in range(1, 80):
        case = Draw(Numbers(Random(number)), Goals({"wrong": word}))(domain)
        step = case.program.steps[-1]
        assert rank_groups(case.program.mesh, step.axes, step.groups) or not step.axes
        try:
            evaluate(case)
            seen["legal"] += 1
        except Rejected as rejected:
            seen[rejected.clause] += 1
    assert seen.keys() <= {"legal", clause}  # no pair, and no operand, is wrong
    assert seen[clause] > 20


@pytest.mark.parametrize("op", ["all_gather", "all_to_all", "permute", "reduce"])
def test_every_way_to_be_wrong_is_refused_in_some_draw(op: str) -> None:
    for levels in ways(op):
        draws = (Draw(Numbers(Random(f"{levels} {number}")), Goals(levels)) for number in range(30))
        assert any(refused(draw(OF_OPERATIONS[op])) for draw in draws), levels


def test_extremes_of_complex_numbers_are_drawn_and_refused() -> None:
    drawn = [numbered(DOMAINS["collectives"]["all_reduce"], 1, number)[0] for number in range(300)]
    extremes = [case for case in drawn if case.program.steps[-1].attrs.get("op") in ("max", "min")]
    complex_ones = [
        case for case in extremes if any("complex" in each.blocks[0].dtype for each in case.inputs.values())
    ]
    assert any(refused(case) for case in complex_ones)


def refused(case: Case) -> bool:
    try:
        evaluate(case)
    except Rejected:
        return True
    return False


def test_groups_without_members_are_drawn_beside_a_number() -> None:
    domain, drawn = DOMAINS["collectives"]["reduce_constant"], [((),)]
    assert (
        drawn
        == [
            groups
            for number in range(300)
            if (groups := numbered(domain, 0, number)[0].program.steps[-1].groups) == ((),)
        ][:1]
    )
