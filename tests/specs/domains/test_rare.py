"""What a draw is steered to that meets seldom goes together."""

from __future__ import annotations

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


def test_what_no_operand_has_is_no_goal_beside_the_word_none() -> None:
    assert "factor" not in steered_to({"reduction": "sum"}, ALL_REDUCE, 0, 3)
    assert steered_to({"factor": "zero"}, ALL_REDUCE, 0, 3)["reduction"] == "premul_sum"
