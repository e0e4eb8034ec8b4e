"""The suite of sharded tensors finds wrong implementations, and refuses no right one."""

from __future__ import annotations

import pytest

from conformance.backends.base import Backend
from conformance.qualification.changed_references import CHANGED_REFERENCES, PlacedTensors
from conformance.qualification.qualify import qualify
from conformance.qualification.sharded_mutants import VARIANTS, refusing

EVERY_SHARDED_MUTANT = [each for each in CHANGED_REFERENCES if issubclass(each, PlacedTensors)]


def named(*names: str) -> list[type[Backend]]:
    return [each for each in EVERY_SHARDED_MUTANT if each.__qualname__ in names]


def test_some_cases_find_most_mutants() -> None:
    found = qualify(EVERY_SHARDED_MUTANT, examples=100)
    assert len(found.survivors) + len(found.problems) <= 10, (found.survivors, found.problems)


def test_no_case_refuses_a_variant() -> None:
    assert refusing(VARIANTS, 60) == {}


def test_who_asserts_is_found_on_the_first_cases_of_a_run_though_cases_may_be_refused() -> None:
    found = qualify(named("CutsBeyondTheEnd", "OthersHaveTheOperandsDtype"), examples=120)
    assert [row.clause for row in found.mutants] == ["sharded.C9"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_mutant_is_found_and_no_variant(seed: int) -> None:
    found = qualify(EVERY_SHARDED_MUTANT, examples=3000, seed=seed)
    assert (found.survivors, found.problems) == ((), ())
    assert refusing(VARIANTS, 1000, seed) == {}
