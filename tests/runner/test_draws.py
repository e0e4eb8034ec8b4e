"""Cases drawn, and made smaller by Hypothesis."""

from __future__ import annotations

import pytest
from hypothesis import given

from conformance.cases.case import Case
from conformance.runner.draws import as_bytes, numbered, shrink, strategy
from conformance.specs import SUITES, choose


def number(case: str) -> str:
    return case[:7]


def test_a_long_case_is_made_smaller_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    long = choose.integers(0, 10**6).map(lambda n: f"{n:07d}" * 50_000)
    drawn = [numbered(long, 0, at)[0] for at in range(20)]
    smallest = shrink(long, 20, 0, number(max(drawn)), lambda case: number(case) >= "0000100", 50, number)
    assert smallest is not None
    assert number(smallest) == "0000100"
    assert not recwarn.list


def test_hypothesis_reads_back_what_random_numbers_made() -> None:
    domain = SUITES["async"].domains["reduce_scatter"]
    seen: list[Case] = []

    @given(strategy(domain))
    def read(case: Case) -> None:
        seen.append(case)

    for at in range(20):
        case, numbers = numbered(domain, 0, at)
        read.hypothesis.fuzz_one_input(as_bytes(numbers))  # type: ignore[attr-defined]
        assert seen[-1] == case


def test_draws_of_different_domains_have_different_numbers() -> None:
    one, other = (SUITES["collectives"].domains[op] for op in ("barrier", "axis_index"))
    meshes = [[numbered(domain, 0, at)[0].program.mesh for at in range(20)] for domain in (one, other)]
    assert meshes[0] != meshes[1]
    assert numbered(one, 0, 0)[0].program.mesh == numbered(other, 0, 0)[0].program.mesh
