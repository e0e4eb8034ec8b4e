"""Graphs compiled for TPUs: each round is one function over the devices of the graph, evaluated by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Claims, Unsupported
from conformance.backends.jax.graphs import CLAIMS as DOCUMENTED
from conformance.backends.jax.hlo.module import Module, read_module
from conformance.backends.jax.tpu.claims import DTYPES
from conformance.backends.jax.tpu.evaluate import evaluated
from conformance.backends.jax.tpu.meetings import AXIS, Meeting
from conformance.backends.jax.tpu.pairs import check
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.features import FEATURES
from conformance.cases.tensor.dtypes import Array

CLAIMS: Final[Claims] = {
    "graph": {
        **DOCUMENTED["graph"],
        "operation": list(FEATURES["operation"]),
        "dtype": list(DTYPES),
        "devices": ["1", "2", "more"],
    }
}
"""What the documentation of JAX supports, of the dtypes that are read here; the devices of a graph are ranks."""


def run(case: GraphCase, devices: list[Any]) -> dict[str, Array]:
    """Return what the rounds of a case ask for and read."""
    return Evaluated(case, devices).run()


def over(world: int, devices: list[Any]) -> NamedSharding:
    """Return how ranks lie on the first devices; raise ``Unsupported`` where there are too few."""
    if world > len(devices):
        raise Unsupported(f"{world} devices; the topology has {len(devices)}")
    with framework():
        return NamedSharding(Mesh(np.array(devices[:world]), (AXIS,)), PartitionSpec(AXIS))


def compiled(function: Callable[..., Any], given: Sequence[Any], at: NamedSharding, **how: Any) -> tuple[Module, Any]:
    """Return what a function of blocks is compiled to, and the tree of what it gives; raise ``BrokenPair`` too.

    ``given`` are trees of arrays with a leading axis of ranks.
    """
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=at), list(given))

    @adapter()
    def inside(*blocks: Any) -> Any:
        with framework():
            own = jax.tree.map(lambda x: lax.squeeze(x, (0,)), blocks)
        made = function(*own)
        with framework():
            return jax.tree.map(lambda x: lax.expand_dims(x, (0,)), made)

    with framework():
        mapped = jax.shard_map(inside, mesh=at.mesh, in_specs=at.spec, out_specs=at.spec, check_vma=False)
        lowered = jax.jit(mapped, keep_unused=True, **how).lower(*shapes)
        executable: Any = lowered.compile().runtime_executable()
        (module,) = executable.hlo_modules()
        encoded = module.as_serialized_hlo_module_proto()
        tree = jax.tree.structure(lowered.out_info)
    found = read_module(encoded)
    with framework():
        check(found)
    return found, tree


class Evaluated(Meeting):
    """A case whose values are arrays of all ranks, one after the other."""

    def __init__(self, case: GraphCase, devices: list[Any]) -> None:
        """Begin with what the buffers hold at first: each on its own device, and nothing elsewhere."""
        self._homes = {str(node.arg): node.device for node in case.graph.nodes if node.op == "buf"}
        self._world = len({node.device for node in case.graph.nodes})
        self._at = over(self._world, devices)
        self.case = case
        super().__init__(case)

    def storage(self, name: str, array: Array) -> Any:
        """Return a flat array on its device, beside zeros."""
        found = np.zeros((self._world, *array.shape), array.dtype)
        found[self.ranks[self._homes[name]] if name in self._homes else 0] = array
        return found

    def begin(self, number: int) -> None:
        """Compile and evaluate one function a round."""
        self.write_from_outside(number)
        taken = (self.storages, self.values, self.more)
        module, tree = compiled(self._round(number), taken, self._at)
        given = [np.asarray(each) for each in jax.tree.leaves(taken)]
        value = evaluated(module, self._world, [each.reshape(self._world, 1, *each.shape[1:]) for each in given])
        parts = value if isinstance(value, tuple) else (value,)
        blocks = [each.reshape(self._world, *each.shape[2:]) for each in parts]
        self.given, self.storages, self.values, self.more = jax.tree.unflatten(tree, blocks)

    def answers(self, names: tuple[str, ...]) -> list[Any]:
        """Return what each node that was asked for is worth on its own device."""
        found: list[Any] = [
            np.array(each[self.ranks[self.nodes[name].device]]) for name, each in zip(names, self.given, strict=True)
        ]
        return found

    def held(self, name: str) -> Any:
        """Return what a buffer holds on its device, in its shape."""
        rank = self.ranks[self._homes[name]] if name in self._homes else 0
        return np.array(self.storages[name][rank]).reshape(self.case.buffers[name].shape)
