"""The plainest right schedule of a graph: a kernel for every value, in program order, each into a buffer of its own.

Movement is an index map, and what needs no kernel has none. Values of variables are those that the graph asks for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from dataclasses import replace as placed
from itertools import takewhile

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import LEAVES, MOVEMENT, Graph, Node
from conformance.cases.schedule.index_map import Affine, contiguous
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Cast,
    Reduce,
)
from conformance.cases.schedule.opaque_form import readers, writers
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Place, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.judging.schedules.facts import free_nodes
from conformance.judging.schedules.program_graph import with_graph
from conformance.qualification.legal_schedules.code import Code, Numbers, Where
from conformance.reference.graph.elementwise import identity
from conformance.reference.schedule.facts import Facts

_ALIASES = (
    free_nodes.unmoving,
    free_nodes.contiguous_already,
    free_nodes.detached,
    free_nodes.same_device,
    free_nodes.of_constant,
)
_OPS = {"add": "sum", "mul": "product"}
_OF_BOOL = {"add": "or", "max": "or", "mul": "and", "min": "and"}


def plain(asked: Graph) -> Schedule:
    """Return the plainest right schedule of a graph."""
    bare = with_graph(Schedule(devices={}, buffers=(), items=()), asked)
    made = _Plain(Facts(bare), asked)
    made.take_all(_wanted(asked), {})
    stored = made.facts.stored
    results = [name for name in asked.results if name not in stored and made.at.get(name)]
    places = [
        Place(node=name, buffer=at.buffer, map=at.map)
        for name, at in ((name, made.at[name]) for name in results)
        if at is not None and at.buffer
    ]
    buffers = (*bare.buffers, *made.buffers)
    return replace(bare, buffers=buffers, items=tuple(made.items), places=tuple(places))


def _wanted(asked: Graph) -> tuple[Node, ...]:
    """Return the nodes that results, assigns and forced copies are made of."""
    wanted = set(asked.results)
    for node in reversed(asked.nodes):
        if node.id in wanted or node.op == "assign" or (node.op == "copy" and node.arg is True):
            wanted.update((node.id, *node.of))
    return tuple(node for node in asked.nodes if node.id in wanted)


@dataclass
class _Plain:
    """The items so far, and where the value of each node is; ``None`` for a value without elements."""

    facts: Facts
    graph: Graph
    items: list[Item] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    at: dict[str, Where | None] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    call: str | None = None
    given: dict[str, list[Where | None]] = field(default_factory=dict)
    """Where the results of a call are, by its node."""

    def take_all(self, nodes: tuple[Node, ...], given: dict[int, Where | None]) -> None:
        """Take nodes in order; ``given`` are the arguments of the call that they are the function of."""
        for number, node in enumerate(nodes):
            if node.id not in self.met:
                self._take(node, nodes[number:], given)

    def _take(self, node: Node, later: tuple[Node, ...], given: dict[int, Where | None]) -> None:
        shape = sizes(node.shape, self.facts.values)
        of = [self.at[name] for name in node.of]
        bare = Where(shape, node.dtype, node.device)
        if node.op in LEAVES and node.op != "iota":
            self.at[node.id] = given[int(str(node.arg))] if node.op == "param" else _leaf(node, bare)
        elif node.op == "assign":
            self.at[node.id] = of[0]
            self._assign(node, of[0], of[1])
        elif node.op == "call":
            self._called(node, of)
        elif node.op == "item":
            self.at[node.id] = self.given[node.of[0]][int(str(node.arg))]
        elif 0 in shape:
            self.at[node.id] = None
        elif node.op in MOVEMENT and node.op != "detach":
            self.at[node.id] = self._moved(node, of[0], bare)
        elif self._shown(node, of[:1]):
            self.at[node.id] = None if of[0] is None else placed(of[0], device=node.device)
        elif self.call is None and free_nodes.there_and_back(self.facts, node):
            self.at[node.id] = self.at[free_nodes.copied_from(self.facts, node)]
        elif node.op == "reduce" and (of[0] is None or 0 in of[0].shape):
            value = np.asarray(identity(node.fold, NUMPY[node.dtype]), NUMPY[node.dtype])
            self.at[node.id] = placed(bare, constant=from_array(value))
        elif node.op in ("all_reduce", "collective"):
            self._meet([node, *takewhile(lambda each: _alike(each, node), later[1:])], of)
        else:
            self.at[node.id] = self._computed(node, of, bare)

    def _shown(self, node: Node, of: list[Where | None]) -> bool:
        """Return whether a node shows its source where that is: of a number that was computed elsewhere none does."""
        elsewhere = [each for each in of if each is not None and each.buffer and each.device != node.device]
        return self.call is None and not elsewhere and any(reason(self.facts, node) for reason in _ALIASES)

    def _called(self, node: Node, of: list[Where | None]) -> None:
        """Do what a function says with the arguments; its items are said to compute the call."""
        function = self.graph.functions[str(node.arg)]
        outer, kept = self.at, self.call
        self.at, self.call = {}, kept or node.id
        self.take_all(function.nodes, dict(enumerate(of)))
        found = [self.at[name] for name in (function.result, *function.more)]
        self.at, self.call = outer, kept
        self.at[node.id], self.given[node.id] = found[0], found

    def _moved(self, node: Node, of: Where | None, bare: Where) -> Where:
        """Return where the elements of movement are: a map into the points of its source comes before the source's."""
        arg = node.arg if isinstance(node.arg, tuple) else ()
        axes = [axis for axis in arg if isinstance(axis, int)]
        pairs = [sizes(pair, self.facts.values) for pair in arg if isinstance(pair, tuple)]
        if of is None:
            # A pad of nothing is all zeros.
            return placed(bare, constant=from_array(np.zeros((), NUMPY[node.dtype])))
        if not of.buffer:
            if node.op != "pad":
                return placed(of, shape=bare.shape)
            of = self._filled(of)
        strides, offset, mask = list(_strides(of.shape)), 0, None
        if node.op == "reshape":
            strides = list(_strides(bare.shape))
        elif node.op == "expand":
            strides = [0 if extent == 1 else s for s, extent in zip(strides, of.shape, strict=True)]
        elif node.op == "permute":
            strides = [strides[axis] for axis in axes]
        elif node.op in ("pad", "shrink"):
            sign = -1 if node.op == "pad" else 1
            offset = sign * sum(first * s for (first, _), s in zip(pairs, strides, strict=True))
            if node.op == "pad":
                mask = tuple((first, first + n) for (first, _), n in zip(pairs, of.shape, strict=True))
        elif node.op == "stride":
            # A negative step begins at the last element.
            offset = sum((n - 1) * s for n, s, step in zip(of.shape, strides, axes, strict=True) if step < 0)
            strides = [s * step for s, step in zip(strides, axes, strict=True)]
        elif node.op == "flip":
            offset = sum((of.shape[axis] - 1) * strides[axis] for axis in axes)
            strides = [-s if axis in axes else s for axis, s in enumerate(strides)]
        first = Affine(extents=bare.shape, strides=tuple(strides), offset=offset, mask=mask)
        return placed(of.seen_by(first), shape=bare.shape)

    def _computed(self, node: Node, of: list[Where | None], bare: Where) -> Where:
        """Compute a node into a buffer of its own, and return where it is."""
        constant = node.id in self.facts.constants and self.call is None
        label = None if constant else node.id
        source = of[0] if node.op == "copy" else None
        # A number is filled in where it is wanted, unless it was computed somewhere.
        if source is not None and source.device != node.device and (source.buffer or not constant):
            source = self._whole(source)
            made = self._fresh(bare, node.id)
            write = Access(buffer=made.buffer, write=True, node=self.label(label))
            self._add(Copy(id=self.name(), accesses=(Access(buffer=source.buffer), write), provenance=self.by(label)))
            return made
        made = self._fresh(bare, node.id)
        assert all(each is not None for each in of)
        taken = [each for each in of if each is not None]
        extents = taken[0].shape if node.op == "reduce" else bare.shape
        kernel = Code(node.device, extents)
        values = [] if node.op == "gather" else [kernel.value(each) for each in taken]
        target = made.map
        if node.op == "reduce":
            axes = tuple(axis for axis in node.arg if isinstance(axis, int)) if isinstance(node.arg, tuple) else ()
            found = kernel.add(Reduce(op=node.fold, of=values[0], axes=axes))  # type: ignore[arg-type]  # a fold
            kept = iter(_strides(bare.shape))
            every = tuple(0 if axis in axes else next(kept) for axis in range(len(extents)))
            target = (Affine(extents=extents, strides=every),)
        elif node.op == "alu":
            found = kernel.add(Alu(op=str(node.arg), of=tuple(values)))  # type: ignore[arg-type]  # a word of ``Alu``
        elif node.op in ("cast", "bitcast"):
            found = kernel.add((Cast if node.op == "cast" else Bitcast)(of=values[0], dtype=node.dtype))
        elif node.op == "iota":
            found = kernel.counted(int(str(node.arg)), node.dtype)
        elif node.op == "gather":
            found = kernel.taken(self._filled(taken[0]), taken[1], int(str(node.arg)))
        else:
            found = values[0]
        self._add(self._stored(kernel, found, Access(buffer=made.buffer, write=True, map=target), label))
        return made

    def _assign(self, node: Node, target: Where | None, value: Where | None) -> None:
        """Write a value where the target is, by way of a buffer where it is read from the target's storage."""
        inner = self.call is not None
        if (
            target is None
            or value is None
            or (not inner and (free_nodes.itself(self.facts, node) or self._nothing(node)))
        ):
            return
        if value.buffer == target.buffer:
            value = self._moved_to(value)
        kernel = Code(target.device, target.shape)
        write = Access(buffer=target.buffer, write=True, map=target.map)
        self._add(self._stored(kernel, kernel.value(value), write, node.id))

    def _nothing(self, node: Node) -> bool:
        return free_nodes.of_nothing(self.facts, node) or not self.facts.stored[node.id].at.size

    def _meet(self, nodes: list[Node], of: list[Where | None]) -> None:
        """Add one collective for the nodes that are what its members receive."""
        first = nodes[0]
        sources = [self._whole(each) for each in of if each is not None]
        members = first.members or tuple(dict.fromkeys(each.device for each in sources))
        attrs = dict(first.attrs)
        op = str(first.arg)
        if first.op == "all_reduce":
            words = _OF_BOOL if first.dtype == "bool" else _OPS
            op, attrs = "all_reduce", {"op": words.get(first.fold, first.fold)}
        asked = {node.device: node for node in nodes}
        written: list[Access] = []
        for member in members:
            node = asked.get(member)
            shape = sizes(first.shape, self.facts.values)
            made = self._fresh(Where(shape, first.dtype, member), node.id if node else "")
            written.append(Access(buffer=made.buffer, write=True, node=self.label(node.id if node else None)))
            if node is not None:
                self.at[node.id] = made
                self.met.add(node.id)
        bare = Collective(id=self.name(), op=op, attrs=attrs, participants=members, group=" ".join(members))
        # Only the root of a broadcast reads.
        reading = [sources[first + at] for first in range(0, len(sources), len(members)) for at in readers(bare)]
        # Of bytes alone a block is flat: what moves along other axes is told its shape.
        shaped = first.op == "collective"
        taken = (Access(buffer=each.buffer, map=each.map if shaped else None) for each in reading)
        accesses = (*taken, *(written[at] for at in writers(bare)))
        by = tuple(dict.fromkeys(name for node in nodes for name in self.by(node.id)))
        self._add(replace(bare, accesses=accesses, provenance=by))

    def _whole(self, at: Where) -> Where:
        """Return where a value is all of a buffer, in order: there, or in one that it is moved to."""
        size = math.prod(at.shape) * NUMPY[at.dtype].itemsize
        known = {buffer.id: buffer.size for buffer in (*self.buffers, *self.facts.schedule.buffers)}
        return at if at.map == contiguous(at.shape) and known[at.buffer] == size else self._moved_to(at)

    def _filled(self, at: Where) -> Where:
        return at if at.buffer else self._moved_to(at)

    def _moved_to(self, at: Where) -> Where:
        """Return a value in a buffer of its own."""
        made = self._fresh(Where(at.shape, at.dtype, at.device))
        kernel = Code(at.device, at.shape)
        write = Access(buffer=made.buffer, write=True, map=made.map)
        self._add(self._stored(kernel, kernel.value(at), write, None))
        return made

    def _fresh(self, at: Where, name: str = "") -> Where:
        size = math.prod(at.shape) * NUMPY[at.dtype].itemsize
        made = Buffer(id=f"t{len(self.buffers)} {name}".strip(), size=size, dtype=at.dtype, device=at.device)
        self.buffers.append(made)
        return placed(at, buffer=made.id, map=contiguous(at.shape))

    def _stored(self, kernel: Code, value: int, write: Access, label: str | None) -> Kernel:
        """Return the kernel that stores a value, with the label where it has one."""
        named = replace(write, node=self.label(label))
        return kernel.stored(self.name(), value, named, self.facts.values, self.by(label))

    def _add(self, item: Item) -> None:
        self.items.append(item)

    def name(self) -> str:
        """Return the name of the next item."""
        return f"k{len(self.items)}"

    def label(self, name: str | None) -> str | None:
        """Return what a write is said to be of: in a function of nothing, for the graph has no such node."""
        return name if self.call is None else None

    def by(self, name: str | None) -> tuple[str, ...]:
        """Return what an item is said to compute: in a function the call."""
        return () if name is None else (self.call or name,)


def _leaf(node: Node, bare: Where) -> Where:
    """Return where a buffer, a constant or a variable is."""
    if node.op == "buf":
        return placed(bare, buffer=str(node.arg), map=contiguous(bare.shape))
    if node.op == "var":
        return placed(bare, variable=str(node.arg))
    assert isinstance(node.arg, Tensor)
    return placed(bare, constant=node.arg)


def _alike(node: Node, first: Node) -> bool:
    """Return whether a node is what another member receives of the same meeting."""
    mine, theirs = ((each.op, each.of, each.arg, each.fold, each.members, each.shape) for each in (node, first))
    return mine == theirs and node.attrs == first.attrs and node.device != first.device


def _strides(shape: Numbers) -> Numbers:
    return contiguous(shape)[0].strides
