"""The order of cases: what adds most a second comes first, and every beginning has its share of each family."""

from __future__ import annotations

import numpy as np

from conformance.vectors.goals import KILL, Numbering
from conformance.vectors.order import Goals, merged, ordered


def rows(*goals: list[int]) -> list[np.ndarray]:
    return [np.array(each, np.int32) for each in goals]


def test_a_case_that_shows_what_was_shown_comes_later() -> None:
    assert ordered(rows([0, 1, 2], [0, 1], [3]), [0.0] * 3, np.ones(4)) == [0, 2, 1]


def test_seconds_are_in_the_denominator() -> None:
    assert ordered(rows([0, 1], [2]), [1.0, 0.0], np.ones(3)) == [1, 0]


def test_what_a_case_adds_is_what_is_left_of_its_goals() -> None:
    goals = Goals(rows([0, 1], [1, 2], [2]), [0.0] * 3, np.array([1.0, 10.0, 100.0]))
    goals.show(0)
    left = [sum(goals.worth(np.array([goal], np.int32)) for goal in each) for each in ([0, 1], [1, 2], [2])]
    np.testing.assert_allclose(goals.gain, left)
    assert goals.gain[2] == 100.0
    assert goals.gain[0] < 11.0


def test_what_was_asked_before_is_left_out_and_what_it_showed_counts_less() -> None:
    shown = rows([0, 1, 2], [0, 1], [3], [4, 5])
    assert ordered(shown, [0.0] * 4, np.ones(6), begun=1) == [3, 2, 1]
    assert ordered(shown, [0.0] * 4, np.ones(6), begun=4) == []


def test_goals_are_left_until_each_was_shown_as_often_as_it_is_to_be() -> None:
    goals = Goals(rows([0], [0], [0]), [0.0] * 3, np.ones(1), rounds=np.array([2], np.int16), later=1.0)
    goals.show(0)
    assert goals.left
    assert goals.gain[1] == 1.0
    goals.show(1)
    assert not goals.left


def test_every_case_is_in_the_order_once() -> None:
    order = ordered(rows([0], [], [0], [0]), [0.0] * 4, np.ones(1))
    assert sorted(order) == [0, 1, 2, 3]
    assert order[-1] == 1


def test_every_beginning_has_the_same_share_of_each_family() -> None:
    order = merged([[0, 1, 2, 3], [10, 11]])
    assert sorted(order) == [0, 1, 2, 3, 10, 11]
    assert [each for each in order if each < 10] == [0, 1, 2, 3]
    assert len({*order[:3]} & {10, 11}) == 1


def test_goals_are_pairs_of_clauses_and_words_and_clauses_alone() -> None:
    numbering = Numbering(["a.C1", f"{KILL} graphs"], 3)
    (one, other) = numbering.rows([[([0], [0, 1])], [([0, 1], [1])]])
    assert len(one) == 3
    assert len({*one.tolist()} & {*other.tolist()}) == 2
    assert sorted(numbering.weights().tolist()) == [0.0, 1.0, 1.0, 20.0, 1000.0]
    assert numbering.row([([0], [2])]).tolist() == [0]
