"""What clauses about graphs speak of: a case, what it means, and what was given for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from conformance.cases.graph.case import GraphCase, keys
from conformance.cases.graph.graph import Graph
from conformance.judging.graphs.traits import Words, traits
from conformance.reference.graph.evaluate import Worth, run
from conformance.reference.rejected import Rejected


@dataclass(frozen=True)
class GraphSubject:
    """A case and what its keys are worth, or the clause that it breaks.

    ``undefined`` says what it does that has no value in every system, where it does.
    """

    case: GraphCase
    expected: Mapping[str, Worth] = field(default_factory=dict)
    undefined: str = ""
    rejected: Rejected | None = None

    @property
    def legal(self) -> bool:
        """Return whether the case has a meaning."""
        return self.rejected is None

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
    def words(self) -> Words:
        """Return what all keys are made of."""
        return frozenset().union(*self.traits.values())


def graph_meaning(case: GraphCase) -> GraphSubject:
    """Return what a case means; raise ``CaseError`` for a malformed one."""
    try:
        found = run(case)
    except Rejected as rejected:
        return GraphSubject(case, rejected=rejected)
    return GraphSubject(case, found.results, found.undefined)
