"""Values that are given for programs without a meaning, each by one way to make tensors fit that do not."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from conformance.backends.reference.sharded import ShardedWalk
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Placement
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.graph_mutants.refusal_faults import fitted
from conformance.reference.sharded.parts import Parts, Sharding


class AssignsPartsThatDoNotFit(ShardedWalk):
    """Converts a value to the dtype of the target of its assign, and cuts or repeats it to the shape."""

    unrefused: ClassVar = "sharded.C53"

    def assign(self, node: Node, value: Parts, *, copied: bool) -> None:
        target = self.nodes[node.of[0]]
        whole = fitted(self.sharding.gathered(value), self.places(node.of[0]).shape, target.dtype)
        super().assign(node, self.sharding.placed(whole, REPLICATED), copied=copied)


class TakesTensorsOfOtherDevices(Sharding):
    """Places a tensor of other devices than the mesh's on the mesh."""

    unrefused: ClassVar = "sharded.C54"

    def placed(self, array: Array, placement: Placement) -> Parts:
        return super().placed(array, replace(placement, outside=()))


class TakesPartsAsTheyCome(Sharding):
    """Does not look at the dtypes of the parts that a tensor is made of, nor at how many they are."""

    unrefused: ClassVar = "sharded.C55"

    def placed(self, array: Array, placement: Placement) -> Parts:
        return super().placed(array, replace(placement, made_of=None))
