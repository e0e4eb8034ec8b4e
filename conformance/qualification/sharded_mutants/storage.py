"""Faults of sharded storage, of copies, and of what counts through a tensor."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from conformance.backends.base import Held
from conformance.backends.reference.sharded import ShardedWalk
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Layout, Placement, held, reals
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.reference.graph.conversion import cast
from conformance.reference.sharded.parts import Parts, Sharding


class StaleReplica(ShardedWalk):
    """Writes what is assigned into all devices but the last."""

    def written(self, old: Parts, whole: Array) -> Parts:
        made = super().written(old, whole)
        return Parts(made.shape, made.placement, (*made.parts[:-1], old.parts[-1]))


class FirstReplicaOnly(ShardedWalk):
    """Writes what comes from outside into the first device only."""

    def write(self, name: str, array: Array) -> None:
        old = self.storages[name]
        super().write(name, array)
        made = self.storages[name]
        self.storages[name] = Parts(made.shape, made.placement, (made.parts[0], *old.parts[1:]))


class CopiesAreNames(ShardedWalk):
    """Takes a copy for another name of its source, which shows what is written later."""

    def value(self, name: str) -> Any:
        node = self.nodes[name]
        if node.op == "copy" and name in self.values:
            return self.made(node, [self.value(node.of[0])])
        return super().value(name)


class CopiesStay(ShardedWalk):
    """Leaves what is copied where it was."""

    def made(self, node: Node, of: list[Any]) -> Parts:
        return of[0] if node.op == "copy" else super().made(node, of)


class ByDeviceNumber(ShardedWalk):
    """Gives parts to devices in the order of their numbers."""

    def storage(self, name: str, array: Array) -> Parts:
        made = super().storage(name, array)
        order = np.argsort(self.sharded.devices)
        turned = tuple(made.parts[int(at)] for at in order)
        shapes = held(made.shape, made.placement, self.sharded.mesh)
        fits = tuple(part.shape for part in turned) == shapes
        return Parts(made.shape, made.placement, turned) if fits and not made.placement.masks else made


class AnswersByDeviceNumber(ShardedWalk):
    """Lists what devices hold in the order of their numbers, but not where that is."""

    def array(self, value: Any) -> Any:
        made = super().array(value)
        order = np.argsort(self.sharded.devices)
        return Held(made.layout, [made.parts[int(at)] for at in order])


class CountsInEachPart(ShardedWalk):
    """Begins to count anew in each part, where a count meets what is split along its axis."""

    def made(self, node: Node, of: list[Any]) -> Parts:
        counts = [self.nodes[name] for name in node.of if name in self.nodes]
        cut = [each.placement for each in of if each.placement.splits and not each.placement.masks]
        if node.op == "alu" and cut and not any(each.placement.partial for each in of):
            of = [self._local(each, value, cut[-1]) for each, value in zip(counts, of, strict=True)]
        return super().made(node, of)

    def _local(self, node: Node, value: Parts, at: Placement) -> Parts:
        axis = int(str(node.arg)) if node.op == "iota" else -1
        if value.placement != REPLICATED or axis not in {split.axis for split in at.splits}:
            return value
        parts = []
        for shape in held(value.shape, at, self.sharded.mesh):
            lead = [-1 if each == axis else 1 for each in range(len(shape))]
            parts.append(np.broadcast_to(cast(np.arange(shape[axis]), node.dtype).reshape(lead), shape))
        return Parts(value.shape, at, tuple(np.array(part, NUMPY[node.dtype]) for part in parts))


class RefusesUneven(ShardedWalk):
    """Has no words for parts of several sizes, and claims them."""

    def storage(self, name: str, array: Array) -> Parts:
        made = super().storage(name, array)
        if len({part.shape for part in made.parts}) > 1:
            raise RuntimeError(f"{name}: parts have several sizes")
        return made


class LeavesTheEndOut(ShardedWalk):
    """Says of the last part that it is empty."""

    def array(self, value: Any) -> Any:
        made = super().array(value)
        boxes = list(made.layout.boxes)
        if len(set(boxes)) > 1 and boxes[-1]:
            boxes[-1] = tuple((begin, begin) for begin, _ in boxes[-1])
            parts = [*made.parts[:-1], np.zeros((0,) * len(boxes[-1]), value.parts[0].dtype)]
            return Held(Layout(boxes=tuple(boxes), partial=made.layout.partial), parts)
        return made


class AssignsWhole(ShardedWalk):
    """Writes a view's value over whole parts: what is beside the view becomes zero."""

    def written(self, old: Parts, whole: Array) -> Parts:
        before = self.sharding.gathered(old)
        same = np.frombuffer(before.tobytes(), np.uint8).reshape(before.size, -1)
        now = np.frombuffer(np.ascontiguousarray(whole).tobytes(), np.uint8).reshape(before.size, -1)
        kept = (same == now).all(axis=1).reshape(before.shape) if before.size else np.zeros(before.shape, np.bool_)
        return super().written(old, np.where(kept, np.zeros((), whole.dtype), whole) if not kept.all() else whole)


class SizeCountsReplicas(ShardedWalk):
    """Says that a tensor has as many elements as all devices hold of it."""

    def size(self, value: Parts) -> int:
        return sum(part.size for part in value.parts)


class SizeCountsWhatIsNotReal(ShardedWalk):
    """Says that a tensor has the elements of all parts, real or not."""

    def size(self, value: Parts) -> int:
        whole = list(value.shape)
        for split in value.placement.splits:
            whole[split.axis] = split.cuts[-1]
        return int(np.prod(whole, dtype=np.int64))


class RealizedWhereAllIsReal(ShardedWalk):
    """Says that a tensor is not realized of which some part is not real."""

    def realized(self, value: Parts) -> bool:
        return all(reals(value.placement, self.sharded.mesh))


class TheFirstAssignStands(ShardedWalk):
    """Writes no more to storage that was assigned to before."""

    def assign(self, node: Node, value: Parts, *, copied: bool) -> None:
        before = itertools.takewhile(lambda each: each is not node, self.nodes.values())
        if self.home(node.of[0]) not in {self.home(each.of[0]) for each in before if each.op == "assign"}:
            super().assign(node, value, copied=copied)


class ViewsAreWrittenInStorageOrder(ShardedWalk):
    """Writes what is assigned to a view in the order in which storage has its elements."""

    def places(self, name: str) -> Array:
        found = super().places(name)
        return np.sort(found, axis=None).reshape(found.shape)


class ConstantsAreSplit(Sharding):
    """Has a constant on the first device only, and zeros elsewhere."""

    def moved(self, value: Parts, placement: Placement) -> Parts:
        made = super().moved(value, placement)
        constant = value.placement == REPLICATED and value.parts[0].size and len({*value.parts[0].reshape(-1)[:9]}) == 1
        if not constant or not placement.splits:
            return made
        rest = (np.zeros_like(part) for part in made.parts[1:])
        return Parts(made.shape, made.placement, (made.parts[0], *rest))
