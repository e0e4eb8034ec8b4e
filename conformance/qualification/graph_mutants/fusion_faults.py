"""Faults of padding and of kernels that fuse too much, each in an implementation that is otherwise right."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.qualification.graph_mutants.eager import Eager
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.nodes import computed


class PadsAreKeptBySource(Eager):
    """Keeps an index by what it is of: of two pads of one node to one shape both are the first. tinygrad#16599."""

    def __init__(self, case: GraphCase) -> None:
        super().__init__(case)
        self.kept: dict[object, Node] = {}

    def moved(self, node: Node, value: Array) -> Array:
        """Pad as the source was padded before."""
        if node.op != "pad":
            return super().moved(node, value)
        return super().moved(self.kept.setdefault((node.of, self.dims(node)), node), value)


class FoldsPaddedAxes(Eager):
    """Pads a folded axis to a multiple of 4, with zeros whatever is folded. tinygrad#17895."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Fold the last axis with zeros at its end."""
        axes = self.axes(node)
        if node.op != "reduce" or node.fold == "add" or not axes or not of[0].size:
            return super().made(node, of)
        ends = [(0, -extent % 4 if axis == axes[-1] else 0) for axis, extent in enumerate(of[0].shape)]
        return computed(node, [np.pad(of[0], ends)])


class FoldsBeforeItWidens(Eager):
    """Moves a conversion to a wider dtype behind the sum of what is converted. tinygrad#4327."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Sum in the narrow dtype, and convert the sum."""
        cast_node = self.nodes.get(node.of[0]) if node.op == "reduce" and node.fold == "add" else None
        if cast_node is None or cast_node.op != "cast" or node.acc:
            return super().made(node, of)
        narrow = self.nodes[cast_node.of[0]].dtype
        if kind(narrow) != kind(node.dtype) or NUMPY[narrow].itemsize >= of[0].dtype.itemsize:
            return super().made(node, of)
        return cast(computed(replace(node, dtype=narrow), [cast(of[0], narrow)]), node.dtype)


class KernelsHaveThirtyBuffers(Eager):
    """Fuses whatever is elementwise, and a kernel of more than 30 operands does not compile. tinygrad#1175."""

    def __init__(self, case: GraphCase) -> None:
        super().__init__(case)
        self.under: dict[str, frozenset[str]] = {}

    def made(self, node: Node, of: list[Any]) -> Any:
        """Raise where too many buffers are under an operation."""
        self.under[node.id] = frozenset().union(*(self._under(name) for name in node.of))
        if len(self.under[node.id]) > 30:
            raise RuntimeError(f"node {node.id!r}: a kernel takes 31 buffers, not {len(self.under[node.id]) + 1}")
        return super().made(node, of)

    def _under(self, name: str) -> frozenset[str]:
        """Return what a kernel for an operand reads of it: what the operand is computed of, where that is fused."""
        node = self.nodes.get(name)
        if node is None or node.op in ("const", "var", "iota"):
            return frozenset()
        if not self.home(name) and (node.op in ("alu", "cast", "bitcast") or node.op in MOVEMENT):
            return self.under.get(name, frozenset())
        return frozenset((self.home(name) or name,))
