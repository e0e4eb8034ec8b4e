"""What a draw is steered to that meets seldom goes together."""

from __future__ import annotations

from random import Random

import pytest

from conformance.runner.coverage.coverage import met_in
from conformance.runner.draws import Numbers
from conformance.specs import SUITES
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.feasible import meet
from conformance.specs.domains.steering.goals import FEATURES, goals_of, steered_to
from conformance.specs.domains.steering.rare import rare

ALL_REDUCE = "conformance.specs.asynchrony.programs('all_reduce')"


def test_the_words_of_a_rare_draw_can_meet_and_so_can_its_goals() -> None:
    for number in range(1, 200):
        words = rare(ALL_REDUCE, 0, number)
        assert len(words) > 1
        assert meet(words)
        goals = steered_to(words, ALL_REDUCE, 0, number)
        assert words.items() <= goals.items()
        assert all(meet({**words, name: goals[name]}) for name in FEATURES.keys() & goals.keys())


def test_long_blocks_have_every_factor() -> None:
    goals = [goals_of("conformance.specs.long.programs('reduce')", 0, number) for number in range(1, 27)]
    found = {each["factor"] for each in goals if each.get("reduction") == "premul_sum"}
    assert found == {*FEATURES["factor"]} - {"none"}


def test_long_blocks_have_every_class_of_local_axes() -> None:
    goals = [goals_of("conformance.specs.long.programs('all_reduce')", 0, number) for number in range(1, 27)]
    assert {each["local"] for each in goals} == {*FEATURES["local"]}


def test_what_is_done_over_no_axis_of_the_mesh_is_done_over_a_local_one() -> None:
    assert not meet({"axes": "none", "factor": "zero", "local": "none"})
    assert not meet({"operation": "reduce", "axes": "none", "factor": "zero"})
    assert steered_to({"axes": "none", "factor": "zero"}, ALL_REDUCE, 0, 3)["local"] != "none"


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        *[("permute", {"place": "overlap", "view": view}) for view in FEATURES["view"][1:]],
        *[
            (op, {"axes": "none", "rank": "0"})
            for op in ("all_to_all", "all_to_all_uneven", "reduce_scatter", "scatter")
        ],
        ("all_gather", {"place": "overlap"}),
        *[("ragged_all_to_all", {"after": after}) for after in ("start", "done", "assign", "free")],
        *[("ragged_all_to_all", {"view": view}) for view in FEATURES["view"]],
    ],
)
def test_a_draw_that_is_steered_towards_words_makes_them(op: str, wanted: dict[str, str]) -> None:
    domain = SUITES["async"].domains[op]
    made = []
    for number in range(1, 13):
        goals = steered_to({"operation": op, **wanted}, domain.name, 0, number)
        case = Draw(Numbers(Random(number)), goals)(domain)
        made += [found for found in met_in(case) if {"operation": op, **wanted}.items() <= found.items()]
    assert made


def test_what_no_operand_has_is_no_goal_beside_the_word_none() -> None:
    assert "factor" not in steered_to({"reduction": "sum"}, ALL_REDUCE, 0, 3)
    assert steered_to({"factor": "zero"}, ALL_REDUCE, 0, 3)["reduction"] == "premul_sum"
