"""The devices of a graph as ranks of one function: every rank computes each node, and that of its device means it.

XLA compiles one program for all devices. A node of one device is computed by all of them, each of what it has, and the
value on its own device is the node's. Where devices meet each gives the value of its own node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import jax.numpy as jnp
from jax import lax

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.jax.graphs import TABLE, Compiled
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.dtypes import NUMPY

AXIS: Final = "d"
"""The mesh axis along which the devices of a graph lie."""

_EXTREMES: Final[dict[str, Callable[..., Any]]] = {"max": lax.pmax, "min": lax.pmin}

FOLDS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "sum": jnp.add, "add": jnp.add, "product": jnp.multiply, "mul": jnp.multiply,
    "max": jnp.maximum, "min": jnp.minimum,
    "and": jnp.bitwise_and, "or": jnp.bitwise_or, "xor": jnp.bitwise_xor,
}  # fmt: skip
"""Folds of two values, by the names of graphs: those of a reduce over devices, and of a collective."""


def ranks(graph: Graph) -> dict[str, int]:
    """Return the rank that each device of a graph is."""
    return {name: rank for rank, name in enumerate(sorted({node.device for node in graph.nodes}))}


class Meeting(Compiled):
    """A graph whose devices are ranks of one function; ``made`` has words for what they do together."""

    @property
    def ranks(self) -> dict[str, int]:
        """Return the rank of each device."""
        return ranks(self.case.graph)

    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Return the calls of computed nodes."""
        return {**TABLE, "copy": self._copy, "all_reduce": self._all_reduce, "collective": self._collective}

    def _copy(self, node: Node, value: Any) -> Any:
        source = self.ranks[self.nodes[node.of[0]].device]
        with framework():
            if source == self.ranks[node.device]:
                return jnp.copy(value)
            return lax.ppermute(value, AXIS, [(source, self.ranks[node.device])])

    def _given(self, devices: tuple[str, ...], of: tuple[Any, ...]) -> Any:
        """Return the value that each rank gives: that of the node on its own device."""
        numbers = [self.ranks[device] for device in devices]
        if sorted(numbers) != list(range(len(self.ranks))):
            raise Unsupported(f"{len(numbers)} of {len(self.ranks)} devices meet, and one program is compiled for all")
        with framework():
            values = [of[numbers.index(rank)] for rank in range(len(numbers))]
            return values[0] if len(values) == 1 else lax.select_n(lax.axis_index(AXIS), *values)

    def _all_reduce(self, node: Node, *of: Any) -> Any:
        devices = tuple(self.nodes[name].device for name in node.of)
        return self.reduced(self._given(devices, of), node.fold)

    def reduced(self, value: Any, op: str) -> Any:
        """Return the fold of the values of all ranks: a collective, or where the compiler has none, by gathering."""
        wide = value.dtype in (NUMPY["uint64"], NUMPY["int64"])
        with framework():
            if op in ("sum", "add") and value.dtype not in (NUMPY["bool"], NUMPY["uint64"]):
                return lax.psum(value, AXIS)
            if op in _EXTREMES and not wide and jnp.issubdtype(value.dtype, jnp.integer):
                return _EXTREMES[op](value, AXIS)
            if op in _EXTREMES and value.dtype in (NUMPY["float32"], NUMPY["bfloat16"]):
                return _EXTREMES[op](value, AXIS)
            every = lax.all_gather(value, AXIS)
            found = every[0]
            for rank in range(1, len(self.ranks)):
                found = FOLDS[op](found, every[rank])
            return found.astype(value.dtype)

    def _collective(self, node: Node, *of: Any) -> Any:
        if len(of) != len(node.members):
            raise Unsupported(f"node {node.id!r}: {node.arg} of several operands")
        make = _CALLS.get(str(node.arg))
        if make is None:
            raise Unsupported(f"node {node.id!r}: there is no word for {node.arg}")
        value = self._given(node.members, of)
        order = [[self.ranks[device] for device in node.members]]
        with framework():
            return make(self, value, order, node.attrs)


def _reduce_scatter(walk: Meeting, value: Any, order: list[list[int]], attrs: Mapping[str, Any]) -> Any:
    axis = int(attrs["axis"])
    if attrs["op"] == "sum" and value.dtype != NUMPY["uint64"]:
        return lax.psum_scatter(value, AXIS, scatter_dimension=axis, axis_index_groups=order, tiled=attrs["tiled"])
    whole = walk.reduced(value, attrs["op"])
    extent = whole.shape[axis] // len(order[0])
    place = jnp.array([order[0].index(rank) for rank in range(len(order[0]))])[lax.axis_index(AXIS)]
    part = lax.dynamic_slice_in_dim(whole, place * extent, extent, axis)
    return part if attrs["tiled"] else lax.squeeze(part, (axis,))


def _permute(walk: Meeting, value: Any, order: list[list[int]], attrs: Mapping[str, Any]) -> Any:
    del walk
    return lax.ppermute(value, AXIS, [(order[0][source], order[0][target]) for source, target in attrs["pairs"]])


def _all_to_all(walk: Meeting, value: Any, order: list[list[int]], attrs: Mapping[str, Any]) -> Any:
    del walk
    split, join = int(attrs["split_axis"]), int(attrs["concat_axis"])
    return lax.all_to_all(value, AXIS, split, join, axis_index_groups=order, tiled=attrs["tiled"])


_CALLS: Final[dict[str, Callable[[Meeting, Any, list[list[int]], Mapping[str, Any]], Any]]] = {
    "all_reduce": lambda walk, value, _, attrs: walk.reduced(value, attrs["op"]),
    "all_gather": lambda _, value, order, attrs: lax.all_gather(
        value, AXIS, axis_index_groups=order, axis=attrs["axis"], tiled=attrs["tiled"]
    ),
    # pbroadcast has no rule for TPUs, so what JAX has is a gather of which one part is taken.
    "broadcast": lambda _, value, order, attrs: lax.all_gather(value, AXIS, axis_index_groups=order)[attrs["root"]],
    "permute": _permute,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
}
"""Where devices meet, in words that are compiled for TPUs."""
