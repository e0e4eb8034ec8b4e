"""A right implementation of graphs on NumPy, in parts that mutants and legal variants replace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from conformance.backends.graph_walk import Walk, place_of
from conformance.backends.reference import Reference
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.tensor.dtypes import Array
from conformance.reference.graph.evaluate import evaluate
from conformance.reference.graph.movement import moved
from conformance.reference.graph.nodes import computed, leaf


class Eager(Walk):
    """Arrays of NumPy: storage is flat, and what is computed is computed at once."""

    def storage(self, name: str, array: Array) -> Array:
        """Return new storage."""
        del name
        return array.copy()

    def write(self, name: str, array: Array) -> None:
        """Write into a whole buffer."""
        self.storages[name] = array.copy()

    def shaped(self, value: Array, shape: tuple[int, ...]) -> Array:
        """Return the beginning of storage in a shape."""
        return value[: int(np.prod(shape, dtype=np.int64))].reshape(shape)

    def moved(self, node: Node, value: Array) -> Array:
        """Return movement of a value."""
        return moved(node, value, 0, self.bounds.get(node.id, {}))

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Write a value that was read before."""
        del copied
        home, at = self.home(node.of[0]), place_of(self, node.of[0])
        self.storages[home] = self.storages[home].copy()
        self.storages[home][at] = value

    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Return no calls: ``made`` has them all."""
        return {}

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a computed node."""
        if node.op in MOVEMENT:
            return self.moved(node, of[0])
        if node.op in ("const", "var", "iota"):
            return leaf(node, self.bounds[node.id])
        return computed(node, of)

    def array(self, value: Array) -> Array:
        """Return a value as it is now."""
        return np.array(value)


class EagerBackend(Reference):
    """Runs graphs by a ``walk``; whatever has no meaning the oracle refuses."""

    walk: ClassVar[type[Eager]] = Eager

    def run_graph(self, case: GraphCase) -> dict[str, Array]:
        """Run a legal case by the walk; raise ``Rejected`` as the oracle does for any other."""
        evaluate(case)
        return self.walk(case).run()
