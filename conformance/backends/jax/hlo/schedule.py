"""The neutral schedule of a graph that JAX has jitted: what XLA compiled it to, read back.

Storages that are assigned to are arguments that are donated, so that XLA writes them where they are, and their new
contents are the first results: JAX pairs donated arguments with results of their shape and dtype in order.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Unsupported
from conformance.backends.bodies.labels import labelled
from conformance.backends.graph_walk import place_of
from conformance.backends.jax.graphs import Compiled
from conformance.backends.jax.hlo.items import Items
from conformance.backends.jax.hlo.module import DTYPES, Assignment, Module, read_assignment, read_module
from conformance.backends.jax.hlo.storage import Storage
from conformance.cases.graph.buffer import Bounds, Buffer, Device
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.index_map import elements
from conformance.cases.schedule.schedule import Binding, Kernel, Place, Schedule
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.tensor import from_array

PLACED = Device(alignment=1)
"""Where values begin within an arena is XLA's affair."""


def schedule(graph: Graph) -> Schedule:
    """Return the schedule that XLA makes of ``graph``; raise ``Unsupported`` for what cannot be said of it."""
    _check(graph)
    traced = Traced(graph)
    module, assignment = traced.compiled()
    (device,) = {node.device for node in graph.nodes}
    parameters = {number: traced.buffer(name, device) for number, name in enumerate(traced.names)}
    bound = [Binding(name, each.value) for name, each in graph.variables.items()]
    variables = {len(traced.names) + number: each for number, each in enumerate(bound)}
    storage = Storage(assignment, parameters, device)
    items = Items(module, storage, variables, device)
    kernels = list(items.made())
    root = module.entry.root
    # What gives one value alone gives no tuple.
    parts: list[tuple[int, ...]] = [(number,) for number in range(len(root.shape.parts))] or [()]
    for number, name in enumerate(traced.written):
        if storage.allocation(items.where(root, parts[number])).parameter != number:
            raise Unsupported(f"the buffer {name!r}, whose memory XLA does not take for what is assigned to it")
    places = []
    for number, name in enumerate(traced.asked, len(traced.written)):
        where = items.where(root, parts[number])
        buffer, _ = storage.buffer(where, root.shape.parts[number] if root.shape.parts else root.shape)
        places.append(Place(node=name, buffer=buffer))
    _check_writes(traced, kernels)
    return Schedule(
        devices={device: PLACED},
        buffers=storage.declared(),
        variables={name: Bounds(low=each.low, high=each.high) for name, each in graph.variables.items()},
        items=tuple(labelled(kernels, places, graph)),
        graph=graph,
        places=tuple(places),
    )


def _check(graph: Graph) -> None:
    if len({node.device for node in graph.nodes}) != 1:
        raise Unsupported("a function is compiled for one device")
    for node in (*graph.nodes, *(node for each in graph.functions.values() for node in each.nodes)):
        if node.dtype not in DTYPES.values():
            raise Unsupported(f"node {node.id!r}: {node.dtype} has no form of its own in memory")
        if any(isinstance(extent, str) for extent in node.shape):
            raise Unsupported(f"node {node.id!r}: a function is compiled for one shape")
        if node.op == "copy" and node.arg is True:
            raise Unsupported(f"node {node.id!r}: a jitted function makes no copy for its own sake")
    for nodes in (graph.nodes, *(each.nodes for each in graph.functions.values())):
        empty = {node.id for node in nodes if 0 in node.shape}
        for node in nodes:
            if node.fold in ("max", "min") and empty.intersection(node.of) and node.id not in empty:
                raise Unsupported(f"node {node.id!r}: to JAX an extreme of nothing is no value")


class Traced(Compiled):
    """A graph as a function of its storages, those that are ``written`` first, and of its variables."""

    def __init__(self, graph: Graph) -> None:
        """Name what is given and what is asked for."""
        nodes = {node.id: node for node in graph.nodes}
        stored = {str(node.arg): node for node in graph.nodes if node.op == "buf"}
        empty = {
            name: from_array(np.zeros(sizes(node.shape, graph.most), NUMPY[node.dtype]))
            for name, node in stored.items()
        }
        self.asked = list(dict.fromkeys(graph.results))
        listed = Round(until=len(graph.nodes), asked=tuple(self.asked))
        super().__init__(GraphCase(graph=graph, buffers=empty, rounds=(listed,)))
        homes = [self.home(node.id) for node in nodes.values() if node.op == "assign"]
        self.written = list(dict.fromkeys(homes))
        self.names = [*self.written, *(name for name in stored if name not in homes)]
        self.scalars: dict[str, Any] = {}

    def buffer(self, name: str, device: str) -> Buffer:
        """Return the buffer that a storage is."""
        found = self.case.buffers[name]
        size = math.prod(found.shape) * NUMPY[found.dtype].itemsize
        return Buffer(id=name, size=size, dtype=found.dtype, device=device, preexisting=True, held=True)

    def compiled(self) -> tuple[Module, Assignment]:
        """Compile the function and read what XLA made of it."""
        given = [self.storages[name] for name in self.names]
        count = len(self.written)
        bound = [np.int64(each.value) for each in self.case.graph.variables.values()]
        with framework():
            jitted = jax.jit(self._function, donate_argnums=0, keep_unused=True)
            made: Any = jitted.lower(given[:count], given[count:], bound).compile()
            (module,) = made.runtime_executable().hlo_modules()
            encoded = module.as_serialized_hlo_module_proto()
            placed = made.memory_analysis().serialized_buffer_assignment_proto
        return read_module(encoded), read_assignment(placed)

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a node; a variable is an argument."""
        if node.op == "var":
            with framework():
                return lax.convert_element_type(self.scalars[str(node.arg)], NUMPY[node.dtype])
        return super().made(node, of)

    @adapter()
    def _function(self, written: Any, others: Any, bound: Any) -> Any:
        self.storages = dict(zip(self.names, (*written, *others), strict=True))
        self.scalars = dict(zip(self.case.graph.variables, bound, strict=True))
        self.list_nodes(0)
        asked = [jnp.asarray(self.value(name)) for name in self.asked]
        return [*(self.storages[name] for name in self.written), *asked]


def _check_writes(traced: Traced, kernels: list[Kernel]) -> None:
    """Refuse writes of a donated array's memory beyond what is assigned to.

    It is XLA's for other values, and for what it copies back, while the function runs; the neutral form says of a
    storage of the graph that only what is assigned is written there.
    """
    assigned: dict[str, set[int]] = {name: set() for name in traced.written}
    for node in traced.case.graph.nodes:
        if node.op == "assign":
            positions: Array = place_of(traced, node.of[0])
            assigned[traced.home(node.id)].update(positions.reshape(-1).tolist())
    for kernel in kernels:
        for access in kernel.accesses:
            name = access.buffer.partition("[")[0] if access.buffer not in assigned else access.buffer
            if not access.write or name not in assigned:
                continue
            if access.map is None or name != access.buffer:
                raise Unsupported(f"item {kernel.id!r}: it writes a donated array, and it is not known where")
            found, touched = elements(access.map, {})
            if not set(found[touched].reshape(-1).tolist()) <= assigned[name]:
                raise Unsupported(f"item {kernel.id!r}: it writes more of a donated array than what is assigned")
