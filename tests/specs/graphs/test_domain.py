"""Drawn graph cases are well formed, and their meanings pass by themselves."""

from __future__ import annotations

import pytest

from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.validate import validate_graph
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.runner.draws import numbered
from conformance.runner.plan import EXAMPLES
from conformance.specs.domains.steering.seldom_draws import EVERY, FIRST
from conformance.specs.graphs import CLAUSES
from conformance.specs.graphs.domain.cases import graph_cases
from conformance.specs.graphs.domain.edges.edge_cases import APART, PATTERNS, TOGETHER
from conformance.specs.graphs.domain.graphs import illegal, meetings, random_graphs, single, wide_fan
from conformance.specs.graphs.domain.listing import SHAPE


@pytest.mark.parametrize(
    "domain", [random_graphs(), single(), illegal(), wide_fan(), meetings()], ids=lambda each: each.name
)
def test_the_oracle_passes_its_own_cases(domain: object) -> None:
    for number in range(40):
        case, _ = numbered(domain, 0, number)  # type: ignore[arg-type]  # a domain of graph cases
        subject = graph_meaning(case)
        assert bool(validate_graph(case)) == (not subject.legal)
        verdict = judge_graph(subject, Reference().graph(case), CLAUSES, STANDARD)
        assert verdict.outcome == "passed", verdict.detail


@pytest.mark.parametrize("turn", range(10))
def test_identities_at_their_edges_are_legal_and_come_at_fixed_numbers(turn: int) -> None:
    case, _ = numbered(graph_cases(), turn, FIRST + EVERY * turn)
    assert [(node.op, node.shape) for node in case.graph.nodes[:4]] == [("buf", SHAPE)] * 4
    subject = graph_meaning(case)
    assert subject.legal
    verdict = judge_graph(subject, Reference().graph(case), CLAUSES, STANDARD)
    assert verdict.outcome == "passed", verdict.detail


def test_a_run_has_every_identity() -> None:
    turns = range(EXAMPLES // EVERY)
    assert len(PATTERNS) <= sum(turn % APART != APART - 1 for turn in turns) * TOGETHER


def test_indices_outside_are_cases_of_their_own() -> None:
    case, _ = numbered(graph_cases(), 0, FIRST + EVERY * (APART - 1))
    assert graph_meaning(case).undefined
