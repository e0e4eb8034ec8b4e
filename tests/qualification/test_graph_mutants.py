"""The suite of graphs finds wrong implementations, and none that is right."""

from __future__ import annotations

import pytest

from conformance.qualification.graph_mutants import MUTANTS, killed

SURVIVES = {"NansAreOne"}
"""A constant NaN is seldom asked for as it is: one in some thousand cases has a payload to lose."""


def test_two_hundred_cases_find_most_mutants_and_refuse_no_right_implementation() -> None:
    found = killed(200)
    assert "Eager" not in found
    assert len(found) >= 30, sorted(set(MUTANTS) - set(found))


@pytest.mark.slow
def test_every_mutant_is_found() -> None:
    found = killed(2500)
    assert "Eager" not in found
    assert set(MUTANTS) - set(found) <= SURVIVES
