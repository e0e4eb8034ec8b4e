"""The neutral schedule of a graph that was compiled for TPUs: its devices are ranks, and its storages arguments.

Each rank is given memory for all storages, of which those of its own device hold something. A storage that is assigned
to is an argument that is donated, and the first results are the new contents. What one rank computes beside the nodes
of its own device nobody reads; it is run all the same, and so it is said.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from msgspec.structs import replace

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.bodies.labels import labelled
from conformance.backends.graph_walk import place_of
from conformance.backends.jax.hlo.module import Module
from conformance.backends.jax.tpu.claims import DTYPES
from conformance.backends.jax.tpu.graphs import compiled, over
from conformance.backends.jax.tpu.held import Held, Stored
from conformance.backends.jax.tpu.items import walk as begun
from conformance.backends.jax.tpu.meetings import Meeting
from conformance.backends.jax.tpu.neutral import PLACED, index_map_of, renamed, written
from conformance.backends.jax.tpu.walk import Walk
from conformance.cases.graph.buffer import Bounds, Buffer
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Kernel, Place, Schedule, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array

import jax.numpy as jnp  # isort: skip


def graph_schedule(graph: Graph, devices: list[Any]) -> Schedule:
    """Return the schedule of a graph; raise ``Unsupported`` for what cannot be said of it."""
    _check(graph)
    traced = _Traced(graph)
    world = len(traced.ranks)
    module = traced.compiled(devices)
    walk, given = begun(module, world), list[Held]()
    parameters = sorted(
        (each for each in module.entry.instructions.values() if each.opcode == "parameter"), key=lambda x: x.parameter
    )
    for name, node in zip(traced.names, parameters, strict=True):
        given.append(_declared(walk, traced, name, node.shape))
    root = walk.entry(given)
    parts = root if isinstance(root, tuple) else (root,)
    kept = dict(module.donated)
    homes: dict[str, str] = {}
    for number, name in enumerate(traced.written):
        if kept.get((number,) if isinstance(root, tuple) else ()) != number:
            raise Unsupported(f"the buffer {name!r}, whose memory XLA does not take for what is assigned to it")
        held = parts[number]
        stored = walk.materialised(held, f"new {name}")
        if stored.at is not None or homes.get(stored.name, name) != name:
            raise Unsupported(f"the buffer {name!r}, whose contents are another value's in another order")
        homes[stored.name] = name
    owner = {rank: device for device, rank in traced.ranks.items()}
    places = []
    for name, held in zip(traced.asked, parts[len(traced.written) :], strict=True):
        stored = walk.materialised(held, f"result {name}")
        buffer = f"{homes.get(stored.name, stored.name)}[{traced.ranks[traced.nodes[name].device]}]"
        places.append(Place(node=name, buffer=buffer, map=index_map_of(stored)))
    own = {f"{name}[{traced.rank_of(name)}]": name for name in traced.names}
    kept_names = {f"{old}[{rank}]": f"{new}[{rank}]" for old, new in homes.items() for rank in range(world)}
    owned = {old: new for old, new in kept_names.items() if new in own}
    made = renamed(renamed(written(walk, places, owned), kept_names, {}), own, {str(r): d for r, d in owner.items()})
    _check_writes(traced, made)
    kernels = [item for item in made.items if isinstance(item, Kernel)]
    labels = dict(zip([each.id for each in kernels], labelled(kernels, list(made.places), graph), strict=True))
    return replace(
        made,
        devices=dict.fromkeys(traced.ranks, PLACED),
        items=tuple(labels.get(item.id, item) for item in made.items),
        variables={name: Bounds(low=each.low, high=each.high) for name, each in graph.variables.items()},
        graph=graph,
    )


def _check_writes(traced: _Traced, made: Schedule) -> None:
    """Refuse writes of a donated array's memory beyond what is assigned to, unless they write back what they read.

    It is XLA's for other values, and for what it copies back, while the function runs; the neutral form says of a
    storage of the graph that only what is assigned is written there.
    """
    assigned: dict[str, set[int]] = {name: set() for name in traced.written}
    for node in traced.case.graph.nodes:
        if node.op == "assign":
            assigned[traced.home(node.id)].update(place_of(traced, node.of[0]).reshape(-1).tolist())
    touched = {each.buffer for item in made.items for each in accesses(item) if each.write}
    several = Counter(traced.home(node.id) for node in traced.case.graph.nodes if node.op == "assign")
    for name in assigned:
        if several[name] > 1 and name not in touched:
            raise Unsupported(f"the buffer {name!r}: after several assigns it holds what it held, unwritten")
    whole = {name for name, at in assigned.items() if len(at) == math.prod(traced.case.buffers[name].shape)}
    for item in made.items:
        read = {each.buffer for each in accesses(item) if not each.write}
        for each in accesses(item):
            if each.write and each.buffer in assigned and each.buffer not in whole | read:
                raise Unsupported(f"item {item.id!r}: it writes more of a donated array than what is assigned")
            if each.write and "[" in each.buffer and each.buffer.rpartition("[")[0] in traced.names:
                raise Unsupported(f"item {item.id!r}: it writes memory that is no storage of its device")


def _check(graph: Graph) -> None:
    for node in (*graph.nodes, *(node for each in graph.functions.values() for node in each.nodes)):
        if node.dtype not in DTYPES:
            raise Unsupported(f"node {node.id!r}: {node.dtype} has no form of its own in memory")
        if any(isinstance(extent, str) for extent in node.shape) or node.op == "var":
            raise Unsupported(f"node {node.id!r}: a function is compiled for one shape, and takes arrays alone")
        if node.op == "copy" and node.arg is True:
            raise Unsupported(f"node {node.id!r}: a jitted function makes no copy for its own sake")


def _declared(walk: Walk, traced: _Traced, name: str, shape: Any) -> Stored:
    found = traced.case.buffers[name]
    size = math.prod(found.shape) * NUMPY[found.dtype].itemsize
    for rank in range(walk.world):
        one = f"{name}[{rank}]"
        walk.buffers.made[one] = Buffer(
            id=one, size=size, dtype=found.dtype, device=str(rank), preexisting=True, held=True
        )
    return Stored(name, shape, shape.dtype)


class _Traced(Meeting):
    """A graph as a function of its storages, those that are ``written`` first."""

    def __init__(self, graph: Graph) -> None:
        """Name what is given and what is asked for."""
        stored = {str(node.arg): node for node in graph.nodes if node.op == "buf"}
        empty = {
            name: from_array(np.zeros(sizes(node.shape, graph.most), NUMPY[node.dtype]))
            for name, node in stored.items()
        }
        self.asked = list(dict.fromkeys(graph.results))
        listed = Round(until=len(graph.nodes), asked=tuple(self.asked))
        super().__init__(GraphCase(graph=graph, buffers=empty, rounds=(listed,)))
        homes = [self.home(node.id) for node in graph.nodes if node.op == "assign"]
        self.written = list(dict.fromkeys(homes))
        self.names = [*self.written, *(name for name in stored if name not in homes)]
        self._devices = {name: node.device for name, node in stored.items()}

    def rank_of(self, name: str) -> int:
        """Return the rank on whose device a storage lies."""
        return self.ranks[self._devices[name]]

    def storage(self, name: str, array: Any) -> Any:
        """Return what stands for a storage until the function is traced."""
        del name
        return array

    def compiled(self, devices: list[Any]) -> Module:
        """Compile the function."""
        at = over(len(self.ranks), devices)
        given = [
            np.zeros((len(self.ranks), *self.storages[name].shape), self.storages[name].dtype) for name in self.names
        ]
        count = len(self.written)
        module, _ = compiled(self._function, (given[:count], given[count:]), at, donate_argnums=0)
        return module

    def _function(self, written: Any, others: Any) -> Any:
        self.storages = dict(zip(self.names, (*written, *others), strict=True))
        self.list_nodes(0)
        values = [self.value(name) for name in self.asked]
        with framework():
            asked = [jnp.asarray(each) for each in values]
        return [*(self.storages[name] for name in self.written), *asked]
