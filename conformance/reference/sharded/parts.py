"""Tensors in parts, and steps done part by part: the model of ``tinygrad.multi`` on NumPy.

It only shows that the rules of placement are right, and is where broken implementations begin. The oracle is
``reference.sharded.evaluate``, which knows no parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.sharded.placement import (
    REPLICATED,
    Layout,
    Mesh,
    Placement,
    held,
    layout_of,
    positions,
    reals,
)
from conformance.cases.sharded.rules import Rule, Unmovable, others, rule
from conformance.cases.sharded.traffic import exchanged, lacked
from conformance.cases.tensor.dtypes import NUMPY, Array, logical
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.movement import moved
from conformance.reference.graph.nodes import computed, leaf
from conformance.reference.sharded.all_reduce import chosen, folded


@dataclass(frozen=True)
class Parts:
    """A tensor: its logical shape, where it is, and what each device holds; zeros where that is not real.

    ``moved`` are the bytes that devices had to get from each other for the step that made it, if they were counted.
    """

    shape: tuple[int, ...]
    placement: Placement
    parts: tuple[Array, ...]
    moved: int | None = 0


@dataclass(frozen=True)
class Sharding:
    """Does steps part by part on a mesh. Each method is one thing that an implementation may get wrong."""

    mesh: Mesh

    def placed(self, array: Array, placement: Placement) -> Parts:
        """Return a whole tensor in parts, none of which shares storage with it."""
        boxes = layout_of(array.shape, placement, self.mesh).boxes
        shapes = held(array.shape, placement, self.mesh)
        parts = tuple(
            np.zeros(shape, array.dtype) if box is None else np.array(array[tuple(slice(*pair) for pair in box)])
            for box, shape in zip(boxes, shapes, strict=True)
        )
        return Parts(array.shape, placement, parts)

    def layout(self, value: Parts) -> Layout:
        """Return what is said of where the parts of a tensor are."""
        return layout_of(value.shape, value.placement, self.mesh)

    def gathered(self, value: Parts) -> Array:
        """Return the whole tensor: real parts in their places, contributions folded."""
        value = self.completed(value)
        out = np.zeros(value.shape, value.parts[0].dtype)
        for box, part in zip(self.layout(value).boxes, value.parts, strict=True):
            if box is not None:
                out[tuple(slice(*pair) for pair in box)] = part
        return out

    def completed(self, value: Parts) -> Parts:
        """Return a tensor with nothing pending: every device has the fold of what its group contributes."""
        if not value.placement.partial:
            return value
        return self.all_reduced(value, value.placement.partial)

    def all_reduced(self, value: Parts, along: Mapping[str, Fold]) -> Parts:
        """Return a tensor whose contributions along some mesh axes are folded, replicas of it on all who had one."""
        parts = list(value.parts)
        for name, fold in along.items():
            done: dict[tuple[int, ...], Array] = {}
            for at in positions(self.mesh):
                group = others(self.mesh, at, (name,))
                if group not in done:
                    done[group] = self.combined(fold, [parts[device] for device in group])
            parts = [done[others(self.mesh, at, (name,))] for at in positions(self.mesh)]
        left = {name: fold for name, fold in value.placement.partial.items() if name not in along}
        return Parts(value.shape, replace(value.placement, partial=left), tuple(np.array(part) for part in parts))

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        """Return the fold of one part of each device, by the algorithm that its size and the group ask for."""
        return folded(fold, parts, chosen(len(parts), parts[0].size))

    def moved(self, value: Parts, placement: Placement) -> Parts:
        """Return a tensor placed otherwise."""
        if value.placement == placement:
            return value
        made = self.placed(self.gathered(value), placement)
        return replaced(made, moved=self.cost(value, value.placement.partial) + self.lacking(value, made))

    def lacking(self, value: Parts, made: Parts) -> int:
        """Return the bytes that devices get when a tensor with nothing pending goes elsewhere."""
        return lacked(logical(made.parts[0].dtype), self.layout(value), self.layout(made))

    def cost(self, value: Parts, along: Mapping[str, Fold]) -> int:
        """Return the bytes that devices get when a tensor is folded along mesh axes."""
        return exchanged(value.shape, logical(value.parts[0].dtype), value.placement, self.mesh, along)

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        """Return the result of a step; one that cannot be done part by part is done whole, on every device.

        A fold that is to stay ``pending`` is not completed.
        """
        try:
            how = self.rule(node, of)
        except Unmovable:
            how = Rule((REPLICATED,) * len(of), REPLICATED)
        taken = [self.moved(value, wanted) for value, wanted in zip(of, how.wanted, strict=True)]
        came = sum(each.moved or 0 for each, before in zip(taken, of, strict=True) if each is not before)
        shape = tuple(int(dim) for dim in node.shape)
        wide = replace(node, dtype=node.acc, acc="") if node.acc else node
        if node.acc:
            wider = [tuple(cast(part, node.acc) for part in each.parts) for each in taken]
            taken = [Parts(each.shape, each.placement, parts) for each, parts in zip(taken, wider, strict=True)]
        made = Parts(shape, how.made, self.local(wide, taken, how.made))
        if pending is None and how.folded:
            came += self.cost(made, how.folded)
            made = self.all_reduced(made, how.folded)
        if node.acc:
            made = Parts(shape, made.placement, tuple(cast(part, node.dtype) for part in made.parts))
        return replaced(made, moved=came)

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        """Return how a step is done part by part; raise ``Unmovable`` where it is not."""
        dtypes = [logical(each.parts[0].dtype) for each in of]
        return rule(node, [each.shape for each in of], dtypes, [each.placement for each in of], self.mesh)

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        """Return what each device makes of its own parts; what is not real is zeros."""
        shape = tuple(int(dim) for dim in node.shape)
        real = reals(made, self.mesh)
        found = []
        for device, mine in enumerate(held(shape, made, self.mesh)):
            parts = [each.parts[device] for each in of]
            if not real[device] or (of and not reals(of[0].placement, self.mesh)[device]):
                found.append(np.zeros(mine, NUMPY[node.dtype]))
            else:
                found.append(self.step(localised(node, parts, mine, of), parts))
        return tuple(found)

    def step(self, node: Node, parts: Sequence[Array]) -> Array:
        """Return what one device makes of its parts, by its part of a node."""
        if node.op in ("const", "iota"):
            return np.array(leaf(node, {}))
        if node.op in MOVEMENT:
            return np.array(moved(node, parts[0], 0, {}))
        return computed(node, parts)


def localised(node: Node, parts: Sequence[Array], mine: tuple[int, ...], of: Sequence[Parts]) -> Node:
    """Return the part of a node that one device does: along split axes it takes all that the device has."""
    arg = node.arg
    if node.op in ("pad", "shrink") and isinstance(arg, tuple):
        cut = {split.axis for split in of[0].placement.splits}
        pairs = []
        for axis, pair in enumerate(arg):
            kept = (0, 0) if node.op == "pad" else (0, parts[0].shape[axis])
            pairs.append(kept if axis in cut else pair)
        arg = tuple(pairs)
    return replace(node, shape=mine, arg=arg)
