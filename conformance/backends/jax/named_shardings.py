"""Programs on sharded tensors on JAX: arrays with a ``NamedSharding``, and one function under ``jit`` a round.

The axes of the mesh are automatic: where intermediate values are is the compiler's choice, but for
``with_sharding_constraint``. Where each result is, its own ``addressable_shards`` say.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from conformance.backends.attribution import framework
from conformance.backends.base import Claims, Held, Unsupported
from conformance.backends.graph_walk import place_of
from conformance.backends.jax.graphs import CLAIMS as GRAPHS
from conformance.backends.jax.graphs import Compiled
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Box, Layout, Placement
from conformance.cases.tensor.dtypes import NUMPY, Array

_HOMES: Final = ("replicated", "even", "empty", "several", "reversed", "crossed", "no_axis", "no_mesh_axis")

_ALONE: Final = ("outside", "parts")
"""What buffers alone are."""

_LACKS: Final = (*(f"reduce_{fold}_integer" for fold in ("and", "or", "xor")), "reduce_xor_bool")

CLAIMS: Final[Claims] = {
    "sharded": {
        **{name: words for name, words in GRAPHS["graph"].items() if name in ("dtype", "nothing", "misfit")},
        # XLA has no collective of these folds on the processor (UNIMPLEMENTED).
        "operation": [word for word in GRAPHS["graph"]["operation"] if word not in _LACKS],
        # ``device_put`` needs extents that the mesh divides; nothing is masked, nor pending outside explicit axes.
        "homes": (*_HOMES, *_ALONE),
        "moves": ("none", *_HOMES),
        # Extents are numbers by the time that anything is placed.
        "extents": ["numbers"],
    }
}
"""What the documentation of JAX supports."""


def run(case: ShardedCase, devices: list[Any]) -> dict[str, Held]:
    """Return what the rounds of a case ask for and read, as it lies on the devices."""
    return Placed(case, devices).run()


class Placed(Compiled):
    """A case whose arrays have shardings over a mesh."""

    kind: ClassVar = AxisType.Auto
    """What the axes of the mesh are."""

    def __init__(self, case: ShardedCase, devices: list[Any]) -> None:
        """Make the mesh, then begin."""
        self.sharded, self.devices = case, devices
        sizes = tuple(axis.size for axis in case.mesh)
        picked = [devices[number] for number in case.devices]
        with framework():
            names = tuple(axis.name for axis in case.mesh)
            kinds = (self.kind,) * len(names)
            self.mesh = Mesh(np.array(picked, object).reshape(sizes), names, axis_types=kinds)
        super().__init__(case.of)

    def sharding(self, placement: Placement, rank: int) -> NamedSharding:
        """Return the sharding of a placement."""
        if placement.masks or placement.partial:
            raise Unsupported("a NamedSharding has no masks and no contributions")
        axes: list[Any] = [None] * rank
        for split in placement.splits:
            if split.axis < 0:
                raise Unsupported("a PartitionSpec counts axes from the first")
            axes = [*axes, *[None] * max(split.axis + 1 - rank, 0)]
            axes[split.axis] = split.along if len(split.along) > 1 else split.along[0]
        with framework():
            return NamedSharding(self.mesh, PartitionSpec(*axes))

    def storage(self, name: str, array: Array) -> jax.Array:
        """Return an array placed on the mesh, in the shape of its buffer."""
        whole = array.reshape(self.case.buffers[name].shape)
        at = self.sharded.homes.get(name, REPLICATED)
        sharding = self.sharding(at, whole.ndim)
        with framework():
            if at.made_of is not None:
                pairs = zip(at.made_of, itertools.cycle(self.mesh.devices.flat), strict=False)
                parts = [jax.device_put(whole.astype(NUMPY[dtype]), device) for dtype, device in pairs]
                joined: jax.Array = jax.make_array_from_single_device_arrays(whole.shape, sharding, parts)
                return joined
            if at.outside:
                few = Mesh(np.array([self.devices[number] for number in at.outside], object), ("alone",))
                sharding = NamedSharding(few, PartitionSpec())
            made: jax.Array = jax.device_put(whole, sharding)
        return made

    def shaped(self, value: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        """Return a buffer in the shape of a node that names it."""
        with framework():
            return value if value.shape == shape else jnp.reshape(value, shape)

    def assign(self, node: Node, value: Any, *, copied: bool) -> None:
        """Set the elements of a buffer that a target shows."""
        del copied
        home, at = self.home(node.of[0]), place_of(self, node.of[0])
        shape = self.case.buffers[home].shape
        where = np.unravel_index(at, shape) if shape else ()
        with framework():
            given = value if shape else value.reshape(())
            self.storages[home] = self.storages[home].at[where].set(given)

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a node; a copy has the sharding that was asked for."""
        if node.op == "copy":
            sharding = self.sharding(self.sharded.moves.get(node.id, REPLICATED), of[0].ndim)
            with framework():
                return jax.lax.with_sharding_constraint(jnp.copy(of[0]), sharding)
        return super().made(node, of)

    def array(self, value: Any) -> Any:
        """Return what each device of the mesh has of an array."""
        with framework():
            value = jax.block_until_ready(value)
            shards = {shard.device: shard for shard in value.addressable_shards}
        found = [shards.get(device) for device in self.mesh.devices.flat]
        boxes = [None if shard is None else _box(shard.index, value.shape) for shard in found]
        with framework():
            parts = [None if shard is None else np.asarray(shard.data) for shard in found]
            size, realized = value.size, value.is_ready()
        return Held(Layout(boxes=tuple(boxes)), parts, size=size, realized=realized)

    def held(self, name: str) -> Any:
        """Return what each device has of a buffer."""
        return self.array(self.storages[name])


def _box(index: tuple[slice, ...], shape: tuple[int, ...]) -> Box:
    return tuple(
        (0 if each.start is None else each.start, extent if each.stop is None else each.stop)
        for each, extent in zip(index, shape, strict=True)
    )
