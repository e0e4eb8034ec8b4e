"""Random graphs over a few buffers, and the plainest schedule of each: a kernel for every value and every assign."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    copy,
    elementwise,
    graph,
    node,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.index_map import Affine, IndexMap, contiguous
from conformance.cases.schedule.schedule import Item, Schedule

SHAPE = (2, 3)


@dataclass
class Program:
    """What has been drawn so far. A value is where it lies: its node, its buffer and the map of its elements."""

    source: random.Random
    nodes: list[Node] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    values: list[tuple[Node, str, Affine]] = field(default_factory=list)
    views: list[tuple[Node, str, Affine]] = field(default_factory=list)

    def made(self, it: Node, place: str, index_map: IndexMap, *, storage: bool = False) -> None:
        """Take a node, and where it lies."""
        self.nodes.append(it)
        (self.views if storage else self.values).append((it, place, index_map[0]))

    def fresh(self) -> str:
        """Return the name of a new node."""
        return f"n{len(self.nodes)}"

    def compute(self) -> None:
        """Draw an elementwise operation on two values of one shape, with a kernel of its own."""
        first = self.source.choice(self.values + self.views)
        like = [v for v in self.values + self.views if v[0].shape == first[0].shape and v[0].device == first[0].device]
        second, name, shape = self.source.choice(like), self.fresh(), _shape(first[0])
        operation, device = self.source.choice(["add", "mul", "max", "sub"]), first[0].device
        self.buffers.append(buffer(name, math.prod(shape), device=device))
        loads = [reads(place, (at,)) for _, place, at in (first, second)]
        write = writes(name, contiguous(shape), node=name)
        self.items.append(elementwise(name, operation, write, *loads, shape=shape, device=device, provenance=(name,)))
        self.made(alu(name, operation, first[0].id, second[0].id, shape=shape, device=device), name, contiguous(shape))

    def move(self) -> None:
        """Draw a view of a value or a buffer."""
        it, place, at = self.source.choice(self.values + self.views)
        shape, name = _shape(it), self.fresh()
        kind = self.source.choice(["permute", "flip", "shrink"])
        if kind == "permute":
            arg: tuple[object, ...] = tuple(self.source.sample(range(len(shape)), len(shape)))
            moved = Affine(
                extents=tuple(shape[a] for a in arg), strides=tuple(at.strides[a] for a in arg), offset=at.offset
            )
        elif kind == "flip":
            axis = self.source.randrange(len(shape))
            arg, strides = (axis,), list(at.strides)
            strides[axis] = -strides[axis]
            moved = Affine(
                extents=shape, strides=tuple(strides), offset=at.offset + (shape[axis] - 1) * at.strides[axis]
            )
        else:
            cuts = tuple(sorted(self.source.sample(range(extent + 1), 2)) for extent in shape)
            arg = tuple((low, high) for low, high in cuts)
            offset = at.offset + sum(low * stride for (low, _), stride in zip(cuts, at.strides, strict=True))
            moved = Affine(extents=tuple(high - low for low, high in cuts), strides=at.strides, offset=offset)
        storage = any(it is view[0] for view in self.views)
        made = node(name, kind, it.id, shape=moved.extents, arg=arg, device=it.device)
        self.made(made, place, (moved,), storage=storage)

    def assign(self) -> None:
        """Draw an assign of a value to a view of the same shape, through a buffer of its own where they may meet."""
        target, place, at = self.source.choice(self.views)
        like = [v for v in self.values + self.views if v[0].shape == target.shape and v[0].device == target.device]
        value, source, origin = self.source.choice(like)
        shape, name = _shape(target), self.fresh()
        read = reads(source, (origin,))
        if source == place:
            if at == origin:
                return
            self.buffers.append(buffer(f"t{name}", math.prod(shape), device=target.device))
            self.items.append(
                elementwise(f"t{name}", "move", f"t{name}", read, shape=shape, device=target.device, provenance=(name,))
            )
            read = reads(f"t{name}", contiguous(shape))
        write = writes(place, (at,), node=name)
        self.items.append(elementwise(name, "move", write, read, shape=shape, device=target.device, provenance=(name,)))
        made = node(name, "assign", target.id, value.id, shape=target.shape, device=target.device)
        self.made(made, place, (at,), storage=True)

    def send(self) -> None:
        """Draw a copy of a value, computed as a whole, to the other device."""
        whole = [value for value in self.values if (value[2],) == contiguous(_shape(value[0])) and value[0].op == "alu"]
        if whole:
            it, place, _ = self.source.choice(whole)
            shape, name, device = _shape(it), self.fresh(), "d1" if it.device == "d0" else "d0"
            self.buffers.append(buffer(name, math.prod(shape), device=device))
            self.items.append(copy(name, place, writes(name, node=name), provenance=(name,)))
            made = node(name, "copy", it.id, shape=shape, device=device, arg=True)
            self.made(made, name, contiguous(shape))


def _shape(it: Node) -> tuple[int, ...]:
    return tuple(int(extent) for extent in it.shape)


def plain(seed: int, steps: int = 10, results: int = 100) -> Schedule:
    """Return the plain schedule of a random program of which the last values, at most so many, are asked for."""
    program = Program(random.Random(seed))
    for name, device in (("a", "d0"), ("b", "d0"), ("c", "d1")):
        program.buffers.append(buffer(name, 6, device=device, preexisting=True))
        program.made(stored(name, SHAPE, device=device), name, contiguous(SHAPE), storage=True)
    for _ in range(steps):
        program.source.choice([program.compute, program.compute, program.move, program.assign, program.send])()
    asked = [it.id for it, _, _ in program.values if it.op in {"alu", "copy"}][-results:]
    return schedule(
        program.buffers, program.items, graph(*program.nodes, results=asked), {name: name for name in asked}
    )
