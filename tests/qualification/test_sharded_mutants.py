"""The suite of sharded tensors finds wrong implementations, and refuses no right one."""

from __future__ import annotations

import pytest

from conformance.qualification.sharded_mutants import MUTANTS, VARIANTS, killed


def test_a_hundred_cases_find_most_mutants_and_refuse_no_variant() -> None:
    assert killed(VARIANTS, 60) == {}
    found = killed(MUTANTS, 120)
    assert len(found) >= 53, sorted(set(MUTANTS) - set(found))


def test_who_asserts_is_found_on_the_first_cases_of_a_run_though_cases_may_be_refused() -> None:
    names = ("CutsBeyondTheEnd", "OthersHaveTheOperandsDtype")
    found = killed({name: MUTANTS[name] for name in names}, 20)
    assert {name: why.split(":")[0] for name, (_, why) in found.items()} == dict.fromkeys(names, "sharded.C9")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_mutant_is_found_and_no_variant(seed: int) -> None:
    found = killed(MUTANTS, 3000, seed)
    assert set(MUTANTS) - set(found) == set()
    assert killed(VARIANTS, 1000, seed) == {}
