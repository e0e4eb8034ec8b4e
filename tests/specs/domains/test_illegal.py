"""Where one thing is meant to be wrong it is, and all else is right."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.cases.program.program import rank_groups
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate
from conformance.runner.draws import numbered
from conformance.specs import SUITES
from conformance.specs.domains.steering.goals import goals_of


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
    domain, seen = SUITES["collectives"].domains[op], Counter[str]()
    for number in range(1, 300):
        if goals_of(domain.name, 0, number).get("wrong") != word:
            continue
        case, _ = numbered(domain, 0, number)
        step = case.program.steps[-1]
        assert rank_groups(case.program.mesh, step.axes, step.groups) or not step.axes
        try:
            evaluate(case)
            seen["legal"] += 1
        except Rejected as rejected:
            seen[rejected.clause] += 1
    assert seen.keys() <= {"legal", clause}  # no pair, and no operand, is wrong
    assert seen[clause] > 2


def test_draws_of_dangerous_words_are_to_be_right() -> None:
    name = SUITES["collectives"].domains["all_reduce"].name
    wanted = [goals_of(name, 0, number) for number in range(1, 60)]
    assert all(not each["wrong"] or each["chained"] == "no" for each in wanted if "wrong" in each)
    assert sum(each.get("wrong") == "" for each in wanted) > 30


def test_a_number_is_drawn_beside_groups_without_members() -> None:
    case, _ = numbered(SUITES["collectives"].domains["reduce_constant"], 2, 393)
    assert case.program.steps[-1].groups == ((),)
    with pytest.raises(Rejected):
        evaluate(case)
