"""Interaction coverage counts what met, out of what can meet."""

from __future__ import annotations

from typing import get_args

import pytest

from conformance.generate.choices import Draw, Factor, Goals
from conformance.generate.suites import DOMAINS
from conformance.reference.rejection import Rejected
from conformance.reference.situations import FEATURES, situations
from conformance.reference.spmd import evaluate
from conformance.runner.coverage.coverage import Coverage
from conformance.runner.coverage.infeasible import reasons
from conformance.runner.draws import Numbers, numbered


def test_pairs_triples_and_trigrams_grow_with_the_cases_and_stay_within_what_is_feasible() -> None:
    coverage = Coverage()
    shares = []
    for examples in (range(5), range(5, 60)):
        for op in ("all_reduce", "all_gather"):
            for number in examples:
                coverage.add(numbered(DOMAINS["async"][op], 0, number)[0])
        shares.append(coverage.measured())
    for name in ("pairs", "triples", "trigrams"):
        assert 0 < shares[0][name].met < shares[1][name].met < shares[1][name].feasible
        assert shares[1][name].holes


def test_words_of_infeasible_pairs_are_those_of_the_table() -> None:
    known = {f"{feature}={word}" for feature, words in FEATURES.items() for word in words}
    assert {word for pair in reasons() for word in pair} <= known


@pytest.mark.parametrize("pair", sorted(reasons())[::97], ids="-".join)
def test_no_draw_that_is_steered_towards_an_infeasible_pair_makes_it(pair: tuple[str, str]) -> None:
    pair_of = dict(word.split("=") for word in pair)
    goals = Goals({each: pair_of[each] for each in get_args(Factor) if each in pair_of})
    for suite in ("collectives", "async"):
        for op in ("all_reduce", "scatter", "permute"):
            for number in range(6):
                _, numbers = numbered(DOMAINS[suite][op], 0, number + 1)
                case = Draw(Numbers(numbers.random), goals)(DOMAINS[suite][op])
                read: list[list[object]] = []
                try:
                    evaluate(case, lambda _, operands, read=read: read.append(operands))  # type: ignore[misc]
                except Rejected:
                    continue
                for found in situations(case, read):  # type: ignore[arg-type]
                    assert not pair_of.items() <= found.items()
