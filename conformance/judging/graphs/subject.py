"""What clauses about graphs speak of: a case, what it means, and what was given for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from conformance.cases.graph.case import GraphCase, keys
from conformance.cases.graph.graph import Graph
from conformance.judging.graphs.givers import givers
from conformance.judging.graphs.traits import traits
from conformance.judging.graphs.values import told
from conformance.judging.keyed_values import KeyedSubject, Words
from conformance.reference.graph.evaluate import run
from conformance.reference.rejection import Rejected


@dataclass(frozen=True)
class GraphSubject(KeyedSubject[GraphCase]):
    """A graph case and what it means."""

    @property
    def graph(self) -> Graph:
        """Return the graph."""
        return self.case.graph

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the names of all results, in order."""
        return keys(self.case)

    @cached_property
    def traits(self) -> dict[str, Words]:
        """Return what each key is made of."""
        return traits(self.case) if self.legal else {}

    @cached_property
    def givers(self) -> dict[str, Words]:
        """Return which operations give the elements of each key as they are."""
        return givers(self.case) if self.legal else {}

    @cached_property
    def made_of(self) -> frozenset[Words]:
        """Return what keys are made of of which something is told, each once: many are made of the same."""
        return frozenset(words for key, words in self.traits.items() if told(self.expected[key]))


def graph_meaning(case: GraphCase) -> GraphSubject:
    """Return what a case means; raise ``CaseError`` for a malformed one."""
    try:
        found = run(case)
    except Rejected as rejected:
        return GraphSubject(case, rejected=rejected)
    return GraphSubject(case, found.results, found.undefined)
