"""Cases drawn, and made smaller by Hypothesis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.errors import HypothesisWarning

from conformance.cases.case import Case
from conformance.reference.situations import FEATURES
from conformance.runner.draws import numbered
from conformance.runner.hypothesis_shrinker import as_bytes, shrink, strategy
from conformance.runner.plan import Plan
from conformance.specs import OPS, SUITES
from conformance.specs.domains import choices
from conformance.specs.domains.steering.goals import goals_of
from conformance.specs.domains.steering.seldom_draws import seldom_goal


def number(case: str) -> str:
    return case[:7]


def test_a_long_case_is_made_smaller_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    long = choices.integers(0, 10**6).map(lambda n: f"{n:07d}" * 50_000)
    drawn = [numbered(long, 0, at)[0] for at in range(20)]
    start = drawn.index(max(drawn))
    smallest = shrink(long, 0, start, lambda case: number(case) >= "0000100", 50, number)
    assert number(smallest) == "0000100"
    assert not [one for one in recwarn.list if issubclass(one.category, HypothesisWarning)]


def test_hypothesis_reads_back_what_random_numbers_made() -> None:
    domain = SUITES["async"].domains["reduce_scatter"]
    seen: list[Case] = []
    for at in range(22):

        @given(strategy(domain, seldom_goal(at)))
        def read(case: Case) -> None:
            seen.append(case)

        case, numbers = numbered(domain, 0, at)
        read.hypothesis.fuzz_one_input(as_bytes(numbers))  # type: ignore[attr-defined]
        assert seen[-1] == case


def test_draws_of_different_domains_have_different_numbers() -> None:
    one, other = (SUITES["collectives"].domains[op] for op in ("barrier", "axis_index"))
    meshes = [[numbered(domain, 0, at)[0].program.mesh for at in range(20)] for domain in (one, other)]
    assert meshes[0] != meshes[1]
    assert numbered(one, 0, 0)[0].program.mesh == numbered(other, 0, 0)[0].program.mesh


def test_every_draw_of_every_domain_has_wishes_that_the_table_knows() -> None:
    for draws in Plan(tuple(OPS), 300, 1).draws():
        for number in range(1, draws.examples):
            found = goals_of(draws.domain.name, 1, number)
            assert all(found[feature] in words for feature, words in FEATURES.items() if feature in found)
