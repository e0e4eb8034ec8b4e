"""Small functions that build schedules: for the ones that break a clause, and for the ones that break none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.cases.graph.buffer import Bounds, Buffer, Device
from conformance.cases.graph.extent import Dim
from conformance.cases.graph.graph import Function, Graph, Node, Variable
from conformance.cases.schedule.index_map import Affine, IndexMap, contiguous
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Instruction, Load, Store
from conformance.cases.schedule.schedule import Access, Copy, Item, Kernel, Place, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor, from_array


def tensor(value: float, dtype: str = "float32") -> Tensor:
    """Return a tensor without axes."""
    return from_array(np.array(value, NUMPY[dtype]))


def buffer(id: str, count: int = 4, dtype: str = "float32", device: str = "d0", **flags: Any) -> Buffer:
    """Return a buffer of ``count`` elements."""
    return Buffer(id=id, size=count * NUMPY[dtype].itemsize, dtype=dtype, device=device, **flags)


def given(*ids: str, count: int = 4, device: str = "d0") -> tuple[Buffer, ...]:
    """Return preexisting buffers."""
    return tuple(buffer(id, count, device=device, preexisting=True) for id in ids)


def planned(*places: int, arena: int = 128, **flags: Any) -> tuple[Buffer, ...]:
    """Return an arena of that many elements, and buffers t0, t1, ... of 4 planned at those bytes of it."""
    parts = [buffer(f"t{n}", base="arena", offset=place, planned=True) for n, place in enumerate(places)]
    return (buffer("arena", arena, **flags), *parts)


def node(id: str, op: str, *of: str, shape: tuple[Dim, ...] = (4,), **rest: Any) -> Node:
    """Return a float32 node on d0 unless told otherwise."""
    kept = {"dtype": "float32", "device": "d0"} | rest
    return Node(id=id, op=op, of=of, shape=shape, **kept)  # type: ignore[arg-type]  # fields of a node


def stored(id: str, shape: tuple[Dim, ...] = (4,), **rest: Any) -> Node:
    """Return the node of the buffer of that name."""
    return node(id, "buf", shape=shape, arg=id, **rest)


def constant(id: str, value: float = 1, shape: tuple[Dim, ...] = (4,), **rest: Any) -> Node:
    """Return a constant of that shape."""
    return node(id, "const", shape=shape, arg=tensor(value, rest.get("dtype", "float32")), **rest)


def alu(id: str, op: str, *of: str, shape: tuple[Dim, ...] = (4,), **rest: Any) -> Node:
    """Return an elementwise node."""
    return node(id, "alu", *of, shape=shape, arg=op, **rest)


def graph(
    *nodes: Node,
    results: Sequence[str],
    functions: dict[str, Function] | None = None,
    variables: dict[str, Variable] | None = None,
) -> Graph:
    """Return the graph of nodes."""
    return Graph(nodes=nodes, results=tuple(results), functions=functions or {}, variables=variables or {})


def reads(buffer: str, index_map: IndexMap | None = None, **rest: Any) -> Access:
    """Return a read of all of a buffer, or by a map."""
    return Access(buffer=buffer, map=index_map, **rest)


def writes(buffer: str, index_map: IndexMap | None = None, **rest: Any) -> Access:
    """Return a write of all of a buffer, or by a map."""
    return Access(buffer=buffer, write=True, map=index_map, **rest)


def line(count: int = 4, offset: int = 0, stride: int = 1) -> IndexMap:
    """Return the map of ``count`` elements from ``offset`` on, ``stride`` apart."""
    return (Affine(extents=(count,), strides=(stride,), offset=offset),)


def opaque(id: str, *accesses: Access, device: str = "d0", **rest: Any) -> Kernel:
    """Return a kernel whose body is not known."""
    return Kernel(id=id, device=device, accesses=accesses, **rest)


def elementwise(
    id: str,
    op: str,
    target: str | Access,
    *sources: str | Access | float,
    shape: tuple[int, ...] = (4,),
    device: str = "d0",
    **rest: Any,
) -> Kernel:
    """Return the kernel that stores ``op`` of its sources; ``move`` stores the one source as it is.

    A source is a buffer, read in order, an access, or a float32 constant.
    """
    every = contiguous(shape)
    accesses: list[Access] = []
    instructions: list[Instruction] = []
    for source in sources:
        if isinstance(source, str | Access):
            instructions.append(Load(access=len(accesses)))
            accesses.append(reads(source, every) if isinstance(source, str) else source)
        else:
            instructions.append(Constant(value=tensor(source)))
    if op != "move":
        instructions.append(Alu(op=op, of=tuple(range(len(sources)))))  # type: ignore[arg-type]  # a word of ``Alu``
    instructions.append(Store(access=len(accesses), of=len(instructions) - 1))
    accesses.append(writes(target, every) if isinstance(target, str) else target)
    body = Body(extents=shape, instructions=tuple(instructions))
    return Kernel(id=id, device=device, accesses=tuple(accesses), bodies=(body,), **rest)


def copy(id: str, source: str | Access, target: str | Access, **rest: Any) -> Copy:
    """Return the copy of a whole buffer, or of what an access says."""
    read = reads(source) if isinstance(source, str) else source
    return Copy(id=id, accesses=(read, writes(target) if isinstance(target, str) else target), **rest)


def schedule(
    buffers: Sequence[Buffer],
    items: Sequence[Item],
    graph: Graph | None = None,
    at: dict[str, str] | None = None,
    alignment: int = 256,
    variables: dict[str, Bounds] | None = None,
) -> Schedule:
    """Return a schedule; ``at`` says in which buffer the value of a node is at the end."""
    names = sorted({buffer.device for buffer in buffers} | {n.device for n in (graph.nodes if graph else ())})
    places = tuple(Place(node=node, buffer=buffer) for node, buffer in (at or {}).items())
    return Schedule(
        devices={name: Device(alignment=alignment) for name in names},
        buffers=tuple(buffers),
        items=tuple(items),
        graph=graph,
        places=places,
        variables=variables or {},
    )
