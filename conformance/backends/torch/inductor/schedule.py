"""The neutral schedule of a graph that ``torch.compile`` compiles: Inductor's scheduler and its wrapper, read back.

An item is one entry of the scheduler's list: the loops that Inductor fused, or a call of a kernel of ATen, which is
opaque. Inductor puts several of the first in one C++ function, that runs them one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
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
from conformance.backends.torch.inductor.capture import captured
from conformance.backends.torch.inductor.made import Function, LoweredFunction
from conformance.backends.torch.inductor.wrapper import read_wrapper
from conformance.cases.graph.buffer import Bounds, Buffer, Device
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.index_map import elements
from conformance.cases.schedule.schedule import Kernel, Place, Schedule
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
        given = tuple(
            Buffer(
                id=name, size=math.prod(each.shape) * NUMPY[each.dtype].itemsize, dtype=each.dtype, device=self.device,
                preexisting=True, held=True,
            )
            for name, each in self.case.buffers.items()
        )  # fmt: skip
        bound = {name: each.value for name, each in self.case.graph.variables.items()}
        made = LoweredFunction(Function(self.device, given, len(self.asked), bound), lowered, read_wrapper(text))
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
