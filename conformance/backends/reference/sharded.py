"""Programs on sharded tensors, run part by part by the rules of ``tinygrad.multi``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.backends.base import Held
from conformance.backends.graph_walk import Walk
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, reals
from conformance.cases.tensor.dtypes import Array
from conformance.reference.graph.movement import moved
from conformance.reference.sharded.parts import Parts, Sharding


class ShardedWalk(Walk):
    """Tensors in parts: each step is done on every device with what it holds."""

    def __init__(self, case: ShardedCase, sharding: Sharding | None = None) -> None:
        """Begin with buffers where they belong."""
        self.sharded = case
        self.sharding = sharding or Sharding(case.mesh)
        super().__init__(case.of)

    def storage(self, name: str, array: Array) -> Parts:
        """Return the parts of a buffer."""
        whole = array.reshape(self.sharded.of.buffers[name].shape)
        return self.sharding.placed(whole, self.sharded.homes.get(name, REPLICATED))

    def write(self, name: str, array: Array) -> None:
        """Place what is written from outside as the buffer is placed."""
        self.storages[name] = self.storage(name, array)

    def shaped(self, value: Parts, shape: tuple[int, ...]) -> Parts:
        """Return a buffer: what names it has its shape, or another one of as many elements."""
        if value.shape == shape:
            return value
        return self.moved(Node(id="", op="reshape", of=("",), shape=shape, dtype="", device=""), value)

    def moved(self, node: Node, value: Parts) -> Parts:
        """Return movement of a tensor in parts."""
        return self.sharding.done(node, [value])

    def made(self, node: Node, of: list[Any]) -> Parts:
        """Return the value of a node, placed as that was asked for or as the rules have it."""
        wanted = self.sharded.moves.get(node.id)
        if node.op == "copy":
            return self.sharding.moved(of[0], wanted or REPLICATED)
        if node.op in MOVEMENT:
            return self.moved(node, of[0])
        return self.sharding.done(node, of, wanted)

    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Return no calls: ``made`` has them all."""
        return {}

    def assign(self, node: Node, value: Parts, *, copied: bool) -> None:
        """Write the elements of a view into every part that has them."""
        del copied
        home, at = self.home(node.of[0]), self.places(node.of[0])
        old = self.storages[home]
        whole = self.sharding.gathered(old).reshape(-1)
        whole[at] = self.sharding.gathered(value)
        self.storages[home] = self.written(old, whole.reshape(old.shape))

    def written(self, old: Parts, whole: Array) -> Parts:
        """Return a buffer with other content."""
        return self.sharding.placed(whole, old.placement)

    def places(self, name: str) -> Array:
        """Return the position in its buffer of each element that a name of storage shows."""
        path, node = [], self.nodes[name]
        while node.op != "buf":
            path.append(node)
            node = self.nodes[node.of[0]]
        shape = self.dims(node)
        found = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
        for each in reversed(path):
            found = found if each.op == "assign" else moved(each, found, -1, {})
        return found

    def arrays(self, values: list[Any]) -> list[Any]:
        """Return what each device holds of values, and where that is."""
        return [self.array(value) for value in values]

    def array(self, value: Any) -> Any:
        """Return what each device holds of a value, and where that is."""
        real = reals(value.placement, self.sharded.mesh)
        parts = [np.array(part) if kept else None for part, kept in zip(value.parts, real, strict=True)]
        return Held(self.sharding.layout(value), parts, value.moved, self.size(value), self.realized(value))

    def size(self, value: Parts) -> int:
        """Return the number of elements of a tensor, of which replicas and what is not real are none."""
        return math.prod(value.shape)

    def realized(self, value: Parts) -> bool:
        """Return whether all real parts of a tensor are stored, whatever the others are."""
        del value  # NumPy computes at once, and every device has its part
        return True

    def held(self, name: str) -> Any:
        """Return what each device holds of a buffer."""
        return replace(self.array(self.storages[name]), moved=None)
