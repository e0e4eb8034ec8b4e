"""Pairwise coverage counts what met, out of what was drawn."""

from __future__ import annotations

from conformance.runner.coverage import Coverage


def test_two_cases_that_share_nothing_meet_half_of_their_pairs() -> None:
    coverage = Coverage()
    coverage.add("permute", {"dtype": frozenset({"bool"}), "world": frozenset({"2"})})
    coverage.add("broadcast", {"dtype": frozenset({"int32"}), "world": frozenset({"3"})})
    pairs = coverage.pairs()
    assert pairs["op x dtype"] == pairs["dtype x world"] == (2, 4)
    assert pairs["op x groups"] == (0, 0)


def test_a_case_of_two_layouts_meets_with_both() -> None:
    coverage = Coverage()
    coverage.add("permute", {"layout": frozenset({"strided", "offset"})})
    assert coverage.pairs()["op x layout"] == (2, 2)
