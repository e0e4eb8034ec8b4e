"""The neutral schedule of a graph that ``torch.compile`` compiles: Inductor's scheduler and its wrapper, read back.

An item is one entry of the scheduler's list: the loops that Inductor fused, or a call of a kernel of ATen, which is
opaque. Inductor puts several of the first in one C++ function, that runs them one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch
from torch._inductor.graph import GraphLowering
from torch.fx.experimental.proxy_tensor import make_fx

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.bodies.labels import labelled
from conformance.backends.graph_walk import place_of
from conformance.backends.torch import graphs
from conformance.backends.torch.inductor.body import Memory, body_of, named, written
from conformance.backends.torch.inductor.capture import captured
from conformance.backends.torch.inductor.wrapper import View, Wrapper, read_wrapper
from conformance.cases.graph.buffer import Bounds, Buffer, Device
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.index_map import Affine, contiguous, elements
from conformance.cases.schedule.kernel_body import Body
from conformance.cases.schedule.schedule import Access, Binding, Kernel, Place, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor, from_array, to_array

PROCESSOR: Final = Device(alignment=0)
"""Memory is allocated whole: there are no arenas, and what is used again has the same size."""


def schedule(graph: Graph, *, planned: bool) -> Schedule:
    """Return the schedule that Inductor makes of ``graph``; raise ``Unsupported`` for what cannot be said of it."""
    _check(graph)
    traced = Traced(graph)
    function, inputs = traced.function()
    return captured(function, inputs, traced.read, planned=planned)


def _check(graph: Graph) -> None:
    if len({node.device for node in graph.nodes}) != 1:
        raise Unsupported("a function is compiled for one device")
    for node in (*graph.nodes, *(node for each in graph.functions.values() for node in each.nodes)):
        if node.dtype not in graphs.DTYPES:
            raise Unsupported(f"node {node.id!r}: torch computes nothing in {node.dtype}")
        if any(isinstance(extent, str) for extent in node.shape):
            raise Unsupported(f"node {node.id!r}: a function is compiled for one shape")
        if node.op == "copy" and node.arg is True:
            raise Unsupported(f"node {node.id!r}: a compiled function makes no copy for its own sake")


class Traced(graphs.Eager):
    """A graph as a function of its storages and of its variables, which are tensors without axes."""

    def __init__(self, graph: Graph) -> None:
        """Name what is given and what is asked for."""
        stored = {str(node.arg): node for node in graph.nodes if node.op == "buf"}
        empty = {
            name: from_array(np.zeros(sizes(node.shape, graph.most), NUMPY[node.dtype]))
            for name, node in stored.items()
        }
        asked = tuple(dict.fromkeys(graph.results))
        listed = Round(until=len(graph.nodes), asked=asked)
        super().__init__(GraphCase(graph=graph, buffers=empty, rounds=(listed,)))
        self.names = list(empty)
        # A name of storage is there, and nothing is returned for it.
        self.asked = [name for name in asked if not self.home(name)]
        self.scalars: dict[str, torch.Tensor] = {}
        (self.device,) = {node.device for node in graph.nodes}

    def function(self) -> tuple[torch.fx.GraphModule, list[torch.Tensor]]:
        """Return the traced function, and what it is traced with."""

        def listed(*given: torch.Tensor) -> list[torch.Tensor]:
            self.storages = dict(zip(self.names, given, strict=False))
            self.scalars = dict(zip(self.case.graph.variables, given[len(self.names) :], strict=True))
            self.list_nodes(0)
            return [self.value(name) for name in self.asked]

        bound = [torch.tensor(each.value) for each in self.case.graph.variables.values()]
        inputs = [*self.storages.values(), *bound]
        # On tensors without data: what computes finds numbers to divide by zero.
        tracing: Any = make_fx(listed, tracing_mode="fake")
        return tracing(*inputs), inputs

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value of a node; a constant is told by its number, and a variable is given."""
        with framework():
            if node.op == "var":
                return self.scalars[str(node.arg)].to(graphs.DTYPES[node.dtype])
            if node.op == "const":
                assert isinstance(node.arg, Tensor)
                number = to_array(node.arg).astype(object if node.dtype != "bfloat16" else np.float64).item()
                return torch.full(self.dims(node), number, dtype=graphs.DTYPES[node.dtype])
        return super().made(node, of)

    def read(self, lowered: GraphLowering, text: str) -> Schedule:
        """Return the schedule, while Inductor still knows its graph."""
        made = Made(self, lowered, read_wrapper(text))
        kernels = list(made.items())
        places = [
            Place(node=name, buffer=made.at(view)[0], map=made.mapped(view))
            for name, view in zip(self.asked, made.wrapper.returned, strict=True)
        ]
        graph = self.case.graph
        return Schedule(
            devices={self.device: PROCESSOR},
            buffers=made.declared({place.buffer for place in places}),
            variables={name: Bounds(low=each.low, high=each.high) for name, each in graph.variables.items()},
            items=tuple(self._checked(labelled(kernels, places, graph))),
            graph=graph,
            places=tuple(places),
        )

    def _checked(self, kernels: Iterator[Kernel]) -> Iterator[Kernel]:
        """Yield the items; refuse one that writes more of a storage than is assigned there.

        Traced without effects, an assign to a part may be a value of everything that is written back: the form has no
        word for what another item has taken along.
        """
        assigned: dict[str, set[int]] = {name: set() for name in self.names}
        for node in self.case.graph.nodes:
            if node.op == "assign":
                assigned[self.home(node.id)].update(place_of(self, node.of[0]).reshape(-1).tolist())
        for kernel in kernels:
            for access in kernel.accesses:
                if access.write and access.buffer in assigned:
                    found, touched = elements(access.map or (), {})
                    if not set(found[touched].reshape(-1).tolist()) <= assigned[access.buffer]:
                        raise Unsupported(f"item {kernel.id!r}: it writes more of a storage than what is assigned")
            yield kernel


@dataclass
class Made:
    """What Inductor made of a function: its ``lowered`` graph, and the ``wrapper``."""

    traced: Traced
    lowered: GraphLowering
    wrapper: Wrapper
    _local: dict[str, Buffer] = field(default_factory=dict)
    _used: dict[str, Buffer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Say which arguments are which; raise ``Unsupported`` where there are others."""
        given = list(self.lowered.graph_inputs)
        names = [*self.traced.names, *self.traced.case.graph.variables]
        if len(given) != len(names) or len(self.wrapper.returned) != len(self.traced.asked):
            raise Unsupported("a function with other arguments or results than were traced")
        count = len(self.traced.names)
        self._arguments: dict[str, str] = dict(zip(given[:count], names, strict=False))
        self._variables: dict[str, str] = dict(zip(given[count:], names[count:], strict=True))

    def items(self) -> Iterator[Kernel]:
        """Yield a kernel for each entry of the scheduler's list that does anything."""
        for node in self.lowered.scheduler.nodes:
            if type(node).__name__ != "NopKernelSchedulerNode":
                yield self._kernel(node)

    def _kernel(self, node: Any) -> Kernel:
        accesses: list[Access] = []
        try:
            bodies = self._bodies(node, accesses)
        except Unsupported:
            # Of what has no body it is known what it reads and writes.
            bodies, accesses = (), list(self._opaque(node))
        loaded = {part.name for part in node.read_writes.reads}
        bound = [name for argument, name in self._variables.items() if argument in loaded]
        if bound and not bodies:
            raise Unsupported("a variable that a kernel without a body takes")
        variables = tuple(Binding(name, self.traced.case.graph.variables[name].value) for name in bound)
        return Kernel(
            id=node.get_name(), device=self.traced.device, accesses=tuple(accesses), bodies=bodies, variables=variables
        )

    def _bodies(self, node: Any, accesses: list[Access]) -> tuple[Body, ...]:
        """Return a body for each nest of loops; several share their outer loops, and wait for each other there."""
        inner = node.get_nodes()
        if not all(hasattr(each, "_body") for each in inner):
            raise Unsupported("a call")
        nests = node.get_outer_nodes() if hasattr(node, "get_outer_nodes") else [node]
        groups = int(node.outer_loop_fusion_depth) if len(nests) > 1 else 0
        own = self._between(node) if groups else {}
        kept = self._kept - set(own)
        memory = Memory(
            buffer=lambda name: (own[name].id, 0) if name in own else self.at(self.wrapper.view(self._real(name))),
            dtype=lambda name: named(self.lowered.get_dtype(name)),
            variables=self._variables,
            kept=kept,
        )
        made = tuple(
            body_of(each.get_nodes(), memory, accesses, phase=phase, groups=groups) for phase, each in enumerate(nests)
        )
        self._local |= {each.id: each for each in own.values()}
        return made

    def _between(self, node: Any) -> dict[str, Buffer]:
        """Return what loops under shared outer ones leave for each other and nobody else reads, as local memory."""
        names = {name for each in node.get_nodes() for name in each.get_buffer_names()}
        returned = {view.storage for view in self.wrapper.returned}
        found: dict[str, Buffer] = {}
        for name in sorted(names):
            buffer = self.lowered.scheduler.name_to_buf[name]
            inside = all(user.node in node.get_nodes() for user in buffer.users)
            if inside and name == self._real(name) and self.wrapper.view(name).storage not in returned:
                found[name] = self._buffer(name, local=True)
        read = {part.name for each in node.get_nodes() for part in each.read_writes.reads}
        if any(name in names and name not in found for name in read):
            raise Unsupported("loops that leave for each other what others see")
        return found

    def _opaque(self, node: Any) -> Iterator[Access]:
        made = set(node.get_buffer_names())
        for name in dict.fromkeys(part.name for part in node.read_writes.reads):
            if name not in made and name not in self._variables:
                yield Access(buffer=self.at(self.wrapper.view(self._real(name)))[0])
        told = {part.name: part for part in node.read_writes.writes}
        for each in node.get_buffer_names():
            if each not in self._kept:
                buffer, offset = self.at(self.wrapper.view(self._real(each)))
                place = written(told.get(each), offset)
                if place is None and self._real(each) in self._arguments:
                    raise Unsupported("a storage that is written without a word where")
                yield Access(buffer=buffer, write=True, map=place)

    @property
    def _kept(self) -> frozenset[str]:
        """Return the names that no memory is written for: who takes them has them at hand."""
        return frozenset(self.lowered.removed_buffers) | frozenset(self.lowered.inplaced_to_remove)

    def _real(self, name: str) -> str:
        """Return the name of what a name is a later version of."""
        found: str = self.lowered.scheduler.mutation_real_name.get(name, name)
        return found

    def at(self, view: View) -> tuple[str, int]:
        """Return the buffer that a view shows, and where it begins there."""
        name = self._arguments.get(view.storage, view.storage)
        if view.storage not in self._arguments:
            self._used.setdefault(name, self._buffer(name))
        return name, view.offset

    def mapped(self, view: View) -> Any:
        """Return where the elements of a returned view lie."""
        if view.sizes is None:
            if view.storage in self._arguments:
                return contiguous(tuple(self.lowered.graph_inputs[view.storage].get_size()), view.offset)
            layout = self.lowered.get_buffer(view.storage).get_layout()
            return (Affine(extents=_numbers(layout.size), strides=_numbers(layout.stride), offset=view.offset),)
        return (Affine(extents=view.sizes, strides=view.strides, offset=view.offset),)

    def _buffer(self, name: str, *, local: bool = False) -> Buffer:
        layout = self.lowered.get_buffer(name).get_layout()
        extents, strides = _numbers(layout.size), _numbers(layout.stride)
        last = sum((extent - 1) * stride for extent, stride in zip(extents, strides, strict=True))
        dtype = named(layout.dtype)
        size = (last + 1) * NUMPY[dtype].itemsize if math.prod(extents) else 0
        return Buffer(id=name, size=size, dtype=dtype, device=self.traced.device, local=local)

    def declared(self, returned: set[str]) -> tuple[Buffer, ...]:
        """Return all buffers: those of the graph, and what the wrapper allocates."""
        given = [
            Buffer(
                id=name, size=math.prod(each.shape) * NUMPY[each.dtype].itemsize, dtype=each.dtype,
                device=self.traced.device, preexisting=True, held=True,
            )
            for name, each in self.traced.case.buffers.items()
        ]  # fmt: skip
        own = [
            Buffer(id=each.id, size=each.size, dtype=each.dtype, device=each.device, output=each.id in returned)
            for each in self._used.values()
        ]
        return (*given, *own, *self._local.values())


def _numbers(extents: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in extents)
