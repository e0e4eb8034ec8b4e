"""Right implementations that place, fold and move in their own ways: nobody may refuse them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as replaced
from typing import Any

import numpy as np
from msgspec.structs import replace

from conformance.backends.base import Held
from conformance.backends.reference.sharded import ShardedWalk
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Layout, Placement, Split, even_cuts
from conformance.cases.sharded.rules import Rule, Unmovable
from conformance.cases.tensor.dtypes import Array, kind
from conformance.reference.sharded.all_reduce import folded
from conformance.reference.sharded.parts import Parts, Sharding


class ReplicatesAll(Sharding):
    """Has every computed value whole on every device, and counts no bytes."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        return replaced(super().done(node, of, pending), moved=None)

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        return Rule((REPLICATED,) * len(of), REPLICATED)


class RefusesAcross(Sharding):
    """Refuses what the source refuses."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        self.rule(node, of)
        return super().done(node, of, pending)


class FoldsInRings(Sharding):
    """Folds by rings, whatever the size."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        return folded(fold, parts, "ring")


class FoldsAllToAll(Sharding):
    """Folds chunk by chunk, each on a device."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        return folded(fold, parts, "all_to_all")


class FoldsBackwards(Sharding):
    """Folds from the last device on."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        return folded(fold, parts[::-1], "naive")


class FoldsWide(Sharding):
    """Folds halves in float32, and rounds once."""

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        dtype = parts[0].dtype
        if kind(dtype.name) != "float" or dtype.itemsize > 2:
            return super().combined(fold, parts)
        with np.errstate(all="ignore"):
            return super().combined(fold, [part.astype(np.float32) for part in parts]).astype(dtype)


class SplitsResults(Sharding):
    """Splits every computed value evenly along its first axis, or what is as even."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        made = super().done(node, of, pending)
        if pending is not None or not made.shape:
            return made
        axis = self.mesh[0]
        split = Split(axis=0, along=(axis.name,), cuts=even_cuts(made.shape[0], axis.size))
        return self.moved(made, Placement(splits=(split,)))


class HasNoMasks(Sharding):
    """Replicates a range that is one part, and all that is made of it."""

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        made = super().done(node, of, pending)
        return self.moved(made, REPLICATED) if made.placement.masks else made


class StaysPending(Sharding):
    """Folds nothing before it must: sums are scaled, divided and rounded term by term."""

    def rule(self, node: Node, of: Sequence[Parts]) -> Rule:
        if len(of) == 2 and node.op == "alu" and node.arg in ("mul", "div") and not of[0].placement.masks:
            first, other = of
            linear = first.placement.partial and set(first.placement.partial.values()) == {"add"}
            plain = not other.placement.partial and not other.placement.masks
            alike = first.parts[0].dtype == other.parts[0].dtype
            if linear and plain and alike and kind(first.parts[0].dtype.name) == "float":
                return Rule((first.placement, replace(first.placement, partial={})), first.placement)
        if len(of) == 1 and node.op == "cast" and kind(node.dtype) == kind(of[0].parts[0].dtype.name) == "float":
            partial = of[0].placement.partial
            if partial and set(partial.values()) == {"add"}:
                return Rule((of[0].placement,), of[0].placement)
        return super().rule(node, of)

    def done(self, node: Node, of: Sequence[Parts], pending: Placement | None = None) -> Parts:
        keeps = node.op == "reduce" and all(kind(each.parts[0].dtype.name) == "float" for each in of)
        try:
            how = self.rule(node, of)
        except Unmovable:
            return super().done(node, of, pending)
        late = how.made if keeps and how.folded and node.fold == "add" else pending
        return super().done(node, of, late)


class OnOneDevice(ShardedWalk):
    """Leaves what nobody asked to be placed on the first device alone."""

    def array(self, value: Any) -> Any:
        return super().array(value)

    def made(self, node: Node, of: list[Any]) -> Parts:
        made = super().made(node, of)
        if node.id in self.sharded.moves or node.op == "copy":
            return made
        masks = {axis.name: tuple(at == 0 for at in range(axis.size)) for axis in self.sharded.mesh}
        return self.sharding.moved(made, Placement(masks=masks))


class PartsOfTheirOwn(ShardedWalk):
    """Says of a replicated value that each device holds some rows, and gives these."""

    def array(self, value: Any) -> Any:
        asked = any(value is each for name, each in self.values.items() if name in self.sharded.moves)
        named = [self.values.get(name) for name in self.sharded.moves]
        if value.placement != REPLICATED or not value.shape or asked or any(value is each for each in named):
            return super().array(value)
        count = len(value.parts)
        cuts = even_cuts(value.shape[0], count)
        boxes = tuple(((cuts[n], cuts[n + 1]), *((0, extent) for extent in value.shape[1:])) for n in range(count))
        return Held(Layout(boxes=boxes), [np.array(part[cuts[n] : cuts[n + 1]]) for n, part in enumerate(value.parts)])
