"""The suite of graphs finds wrong implementations, and none that is right."""

from __future__ import annotations

import pytest

from conformance.generate.graphs.motifs import bits_kept
from conformance.judging.graphs.subject import graph_meaning
from conformance.qualification.changed_references import CHANGED_REFERENCES, WalkedGraphs
from conformance.qualification.graph_mutants import MUTANTS, tried
from conformance.qualification.graph_mutants.eager import Eager
from conformance.qualification.qualify import qualify
from conformance.runner.draws import numbered

EVERY_GRAPH_MUTANT = [each for each in CHANGED_REFERENCES if issubclass(each, WalkedGraphs)]


def test_forty_cases_find_half_of_the_mutants() -> None:
    found = qualify(EVERY_GRAPH_MUTANT, examples=40)
    assert len(found.survivors) + len(found.problems) <= 35, (found.survivors, found.problems)


@pytest.mark.slow
def test_every_mutant_is_found() -> None:
    found = qualify(EVERY_GRAPH_MUTANT, examples=2500)
    assert (found.survivors, found.problems) == ((), ())


def test_a_payload_of_a_nan_is_drawn_and_lost_by_who_has_one_nan() -> None:
    case, _ = numbered(bits_kept(), 0, 0)
    assert tried(Eager, graph_meaning(case)).outcome == "passed"
    assert tried(MUTANTS["NansAreOne"], graph_meaning(case)).outcome == "failed"
