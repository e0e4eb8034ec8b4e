"""The suite of graphs finds wrong implementations, and none that is right."""

from __future__ import annotations

import pytest

from conformance.judging.graphs.subject import graph_meaning
from conformance.qualification.graph_mutants import MUTANTS, killed, tried
from conformance.qualification.graph_mutants.eager import Eager
from conformance.runner.draws import numbered
from conformance.specs.domains.steering.seldom_draws import EVERY, FIRST, SECOND
from conformance.specs.graphs.domain.cases import graph_cases
from conformance.specs.graphs.domain.graphs import bits_kept


def test_two_hundred_cases_find_most_mutants_and_refuse_no_right_implementation() -> None:
    found = killed(200)
    assert "Eager" not in found
    assert len(found) >= 30, sorted(set(MUTANTS) - set(found))


@pytest.mark.slow
def test_every_mutant_is_found() -> None:
    found = killed(2500)
    assert "Eager" not in found
    assert set(MUTANTS) - set(found) == set()


def test_a_payload_of_a_nan_is_drawn_and_lost_by_who_has_one_nan() -> None:
    case, _ = numbered(bits_kept(), 0, 0)
    assert tried(Eager, graph_meaning(case)).outcome == "passed"
    assert tried(MUTANTS["NansAreOne"], graph_meaning(case)).outcome == "failed"


def test_bits_of_computed_subnormals_are_drawn_and_lost_by_who_flushes_them() -> None:
    subjects = [graph_meaning(numbered(graph_cases(), 0, FIRST + EVERY * turn)[0]) for turn in range(7)]
    assert "failed" in [tried(MUTANTS["ShowsBitsOfFlushed"], each).outcome for each in subjects]


IN_EVERY_RUN = (
    "BitsInStoredOrder", "RoundsBetweenAxes", "FoldsBeforeItWidens", "PadsAreKeptBySource", "DropsTheRestOfParts",
    "NamedStorageAlone", "AssignsReadThroughCopies", "NansAreOne",
)  # fmt: skip


@pytest.mark.parametrize("name", IN_EVERY_RUN)
def test_what_seldom_shows_is_drawn_in_every_run(name: str) -> None:
    subjects = (graph_meaning(numbered(graph_cases(), 3, FIRST + EVERY * turn)[0]) for turn in range(19))
    assert any(each.legal and tried(MUTANTS[name], each).outcome == "failed" for each in subjects)


def test_a_variable_is_given_a_greater_number_after_a_smaller_one() -> None:
    case, _ = numbered(graph_cases(), 0, SECOND + EVERY * 17)
    given = [case.bound(number)["n"] for number in range(len(case.rounds))]
    assert given[-1] > max(given[:-1])
