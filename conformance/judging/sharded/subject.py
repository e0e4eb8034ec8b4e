"""What clauses about sharded tensors speak of: a case, what it means, and what was given for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from conformance.cases.graph.case import asked_key
from conformance.cases.graph.graph import LEAVES, Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Layout, layout_of
from conformance.cases.tensor.dtypes import Array
from conformance.judging.graphs.values import told
from conformance.judging.keyed_values import KeyedSubject, Words
from conformance.judging.sharded.fold_algorithms import by_algorithm
from conformance.judging.sharded.words import words_of
from conformance.reference.rejection import Rejected
from conformance.reference.sharded.all_reduce import Algorithm
from conformance.reference.sharded.evaluate import run_sharded
from conformance.reference.sharded.placing import Placed, placed, shape_of


@dataclass(frozen=True)
class ShardedSubject(KeyedSubject[ShardedCase]):
    """A program on sharded tensors and what it means."""

    @cached_property
    def placed(self) -> Placed:
        """Return where the source ``tinygrad.multi`` would have each value; of a legal case."""
        return placed(self.case)

    @property
    def refusable(self) -> str:
        """Return why that source would refuse a legal case; no word where it would not."""
        return next((f"node {name!r}: {why}" for name, why in self.placed.refused.items()), "") if self.legal else ""

    @cached_property
    def traits(self) -> dict[str, Words]:
        """Return what each key is made of."""
        return words_of(self.case, self.placed) if self.legal else {}

    @cached_property
    def made_of(self) -> frozenset[Words]:
        """Return what keys are made of of which something is told, each once: many are made of the same."""
        return frozenset(words for key, words in self.traits.items() if told(self.expected[key]))

    @cached_property
    def single(self) -> dict[str, Node]:
        """Return by key the node of each value that one step makes of buffers as they began, of a legal case."""
        if not self.legal:
            return {}
        nodes = {node.id: node for node in self.case.of.graph.nodes}
        touched = {name for each in self.case.of.rounds for name in each.writes}
        touched |= {_home(nodes, node.of[0]) for node in nodes.values() if node.op == "assign"}
        plain = {
            node.id
            for node in nodes.values()
            if node.op in LEAVES and (node.op != "buf" or str(node.arg) not in touched)
        }
        return {
            key: nodes[name]
            for key, name in ((key, key.partition("/")[2]) for key in self.by_rule)
            if nodes[name].op not in (*LEAVES, "assign") and plain.issuperset(nodes[name].of)
        }

    @cached_property
    def by_algorithm(self) -> dict[str, dict[Algorithm, Array]]:
        """Return by key what each algorithm of that source makes of a fold over devices, where they differ."""
        return by_algorithm(self.case, self.placed, self.single) if self.legal else {}

    @cached_property
    def wanted(self) -> dict[str, Layout]:
        """Return by key where a value is asked to be: that of a copy, or of a buffer as it stands."""
        found = {}
        for name, layout in self.by_rule.items():
            node = name.partition("/")[2]
            if node in self.case.moves and not layout.partial:
                found[name] = layout
        return found

    @cached_property
    def by_rule(self) -> dict[str, Layout]:
        """Return by key where the rules of ``tinygrad.multi`` have each value that is asked for."""
        if not self.legal:
            return {}
        nodes = {node.id: node for node in self.case.of.graph.nodes}
        return {
            asked_key(number, name): layout_of(shape_of(nodes[name]), self.placed.at[name], self.case.mesh)
            for number, each in enumerate(self.case.of.rounds)
            for name in each.asked
        }


def _home(nodes: Mapping[str, Node], name: str) -> str:
    """Return the buffer that a name of storage shows."""
    node = nodes[name]
    while node.op != "buf":
        node = nodes[node.of[0]]
    return str(node.arg)


def sharded_meaning(case: ShardedCase) -> ShardedSubject:
    """Return what a case means; raise ``CaseError`` for a malformed one."""
    try:
        found = run_sharded(case)
    except Rejected as rejected:
        return ShardedSubject(case, rejected=rejected)
    return ShardedSubject(case, found.results, found.undefined)
