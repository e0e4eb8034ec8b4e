"""The dialect of graphs: lazy tensor graphs over buffers, in rounds, judged by the values that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.cases.declarations.terms import Terms
from conformance.cases.graph.case import GraphCase, graph_case_id
from conformance.cases.graph.codec import load_graph, save_graph
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.features import FEATURES, graph_features
from conformance.cases.graph.situations import CLASSES, EXCLUDED, situations, trigrams
from conformance.cases.graph.situations import FEATURES as SITUATIONS
from conformance.generate.domains import GRAPHS
from conformance.judging.graphs.subject import GraphSubject, graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.runner.coverage.interactions import Interactions, Table
from conformance.runner.dialect import CompanyOf, Dialect, DialectSuite, Dialogue, Facts
from conformance.runner.dialects.single_question import (
    ask_once,
    expected_among,
    has_elements,
    none_neutral,
    speaking_among,
)
from conformance.runner.records.record import Covered
from conformance.runner.reductions.graph_cases import graph_case_reductions
from conformance.runner.reductions.leaps import graph_case_leaps
from conformance.specs.graphs import CLAUSES

OP: Final = "graph"
"""The operation that cases are recorded under."""


def facts(subject: GraphSubject) -> Facts:
    """Return what a record says of a case."""
    nodes = subject.graph.nodes
    dtypes = sorted({node.dtype for node in nodes})
    devices = len({node.device for node in nodes})
    return Facts(OP, (OP,), "+".join(dtypes) or "none", max(devices, 1), subject.legal, {OP: _words(subject)})


def _words(subject: GraphSubject) -> Mapping[str, frozenset[str]]:
    gathers = any(node.op == "gather" for node in subject.graph.nodes)
    index = "beyond" if subject.undefined else "inside" if gathers else "none"
    return {**graph_features(subject.case), "index": frozenset({index})}


def dialogue(subject: GraphSubject, terms: Terms) -> Dialogue:
    """Ask for the values of a case, and judge them."""
    return ask_once(
        subject.case,
        lambda seen: judge_graph(subject, seen, CLAUSES, terms.numbers, terms.follows),
        lambda: CLAUSES[0],
    )


def size(case: GraphCase) -> tuple[int, ...]:
    """Return how large a case is: nodes first."""
    values = sum(len(each.asked) + len(each.read) for each in case.rounds)
    elements = sum(extent for node in case.graph.nodes for extent in sizes(node.shape, case.graph.most))
    held = (*case.buffers.values(), *(each for part in case.rounds for each in part.writes.values()))
    data = sum(len(each.bits.replace("0", "")) + len(each.bits) for each in held)
    ranges = sum(each.high - each.low for each in case.graph.variables.values())
    return len(case.graph.nodes), len(case.rounds), len(case.buffers), values, elements + ranges, data


_TABLE: Final = Table(SITUATIONS, CLASSES, EXCLUDED)


def company(subject: GraphSubject) -> CompanyOf | None:
    """Return the devices of a legal case, and the bytes of its values."""
    if not subject.legal or subject.undefined:
        return None
    devices = len({node.device for node in subject.graph.nodes})
    return CompanyOf("graphs", devices, sum(worth.array.nbytes for worth in subject.expected.values()))


@dataclass(frozen=True)
class GraphCounts:
    """Counts which features of nodes, and which steps in a row, met in the cases that were drawn."""

    met: Interactions = field(default_factory=lambda: Interactions(_TABLE))

    def add(self, subject: GraphSubject) -> None:
        """Count one case."""
        self.met.add(situations(subject.graph), trigrams(subject.graph))

    def measured(self) -> dict[str, Covered]:
        """Return the shares of pairs, triples and trigrams, with their largest holes."""
        return self.met.measured(" of values of graphs")


SUITE: Final = DialectSuite(
    "graphs",
    "The values of lazy tensor graphs, in rounds of asking and writing: fusion, movement, assigns, reductions.",
    {OP: GRAPHS},
)

DIALECT: Final = Dialect(
    name="graph",
    summary="Lazy tensor graphs over named buffers: what each round gives is that of eager evaluation.",
    case=GraphCase,
    id_of=graph_case_id,
    save=save_graph,
    load=load_graph,
    suites={SUITE.name: SUITE},
    mean=graph_meaning,
    facts=facts,
    clauses=lambda op, terms: CLAUSES,
    own=lambda op, terms: CLAUSES,
    speaking=speaking_among(CLAUSES),
    expected=expected_among(CLAUSES, OP, SUITE.name),
    dialogue=dialogue,
    probed=lambda claims, subject: OP in claims,
    features=FEATURES,
    reductions=graph_case_reductions,
    neutral=none_neutral,
    size=size,
    leaps=graph_case_leaps,
    length=lambda case: len(case.graph.nodes),
    valued=has_elements,
    counting=GraphCounts,
    company=company,
)
