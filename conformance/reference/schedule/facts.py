"""What follows from a schedule alone: the bytes each item touches, which items conflict, and which are in order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.schedule.index_map import Indices, elements
from conformance.cases.schedule.runs import distinct, merged, runs
from conformance.cases.schedule.schedule import (
    Access,
    Collective,
    Item,
    Kernel,
    Place,
    Schedule,
    Wait,
    accesses,
    bound_values,
    leaves,
)
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.byte_ranges import NOTHING, joined, overlap
from conformance.reference.graph.movement import Stored
from conformance.reference.graph.storage import Assigned, storage_of


@dataclass(frozen=True)
class Touch:
    """Bytes of a storage that one access reads or writes: sorted half-open ranges, one a row, counted in ``root``."""

    access: Access
    root: str
    ranges: Indices

    @property
    def write(self) -> bool:
        """Return whether the bytes are written."""
        return self.access.write


@dataclass(frozen=True)
class Facts:
    """A well-formed schedule and what follows from it. Leaves are items and parts of collectives, numbered in order.

    Of a schedule with calls it is the one in which they are written out, and ``captured`` the one that has them.
    ``like`` is one made before it for nearly the same question: what follows from the question alone is found once.
    """

    schedule: Schedule
    captured: Schedule | None = None
    like: Facts | None = None

    @cached_property
    def buffers(self) -> dict[str, Buffer]:
        """Return the buffers by id."""
        return {buffer.id: buffer for buffer in self.schedule.buffers}

    @cached_property
    def owned(self) -> tuple[tuple[Item, Collective | None], ...]:
        """Return the leaves, each with the collective that it is a part of."""
        return tuple(leaves(self.schedule))

    @cached_property
    def leaves(self) -> tuple[Item, ...]:
        """Return the leaves in order."""
        return tuple(leaf for leaf, _ in self.owned)

    @cached_property
    def values(self) -> Values:
        """Return what the graph, or else the first item, binds each variable to; the most it may be if none does."""
        return bound_values(self.schedule)

    def root(self, buffer: str) -> tuple[str, int]:
        """Return the storage that a buffer lies in, and at which byte of it."""
        at, offset = self.buffers[buffer], 0
        while at.base is not None:
            offset += at.offset
            at = self.buffers[at.base]
        return at.id, offset

    def touch(self, access: Access, values: Values | None = None) -> Touch:
        """Return the bytes of an access."""
        buffer = self.buffers[access.buffer]
        root, offset = self.root(access.buffer)
        if access.map is not None:
            ranges = self.runs(access, self.values if values is None else values) * NUMPY[buffer.dtype].itemsize
        else:
            listed = ((0, buffer.size),) if access.ranges is None else access.ranges
            ranges = merged(np.array(listed, np.int64).reshape(-1, 2))
        return Touch(access, root, ranges + offset)

    @cached_property
    def touches(self) -> tuple[tuple[Touch, ...], ...]:
        """Return what each leaf touches, local memory apart: that is of a kernel alone."""
        return tuple(
            tuple(
                self.touch(access, self.bound(leaf))
                for access in accesses(leaf)
                if not self.buffers[access.buffer].local
            )
            for leaf in self.leaves
        )

    def bound(self, leaf: Item) -> Values:
        """Return what the variables stand for in a leaf."""
        own = {binding.name: binding.value for binding in leaf.variables} if isinstance(leaf, Kernel) else {}
        return {**self.values, **own}

    @cached_property
    def in_place(self) -> frozenset[int]:
        """Return the leaves that read a byte which they write."""
        return frozenset(
            number
            for number, own in enumerate(self.touches)
            for read in own
            for written in own
            if written.write and not read.write and written.root == read.root and overlap(written.ranges, read.ranges)
        )

    @cached_property
    def kept(self) -> dict[tuple[str, int, int], object]:
        """Return what is kept of runs with NumPy for the clauses that ask for them, by what, draw and poison."""
        return {}

    @cached_property
    def _elements(self) -> dict[int, tuple[Access, Values, tuple[Indices, NDArray[np.bool_]]]]:
        return {}

    def elements(self, access: Access, values: Values) -> tuple[Indices, NDArray[np.bool_]]:
        """Return the element of each point of an access by map, and whether it touches any; found once for all runs."""
        assert access.map is not None
        known = self._elements.get(id(access))
        # Kept with the access, so that no other can take its identity.
        if known is None or known[1] != values:
            known = self._elements[id(access)] = access, values, elements(access.map, values)
        return known[2]

    @cached_property
    def _runs(self) -> dict[int, tuple[Access, Values, Indices]]:
        return {}

    def runs(self, access: Access, values: Values) -> Indices:
        """Return the elements that an access by map touches, as ranges; found once for all clauses."""
        assert access.map is not None
        known = self._runs.get(id(access))
        if known is None or known[1] != values:
            known = self._runs[id(access)] = access, values, runs(access.map, values)
        return known[2]

    @cached_property
    def conflicts(self) -> tuple[tuple[int, int, Touch, Touch], ...]:
        """Return the pairs of leaves, the first one first, that touch a byte in common which one of them writes.

        A pair of leaves is there once for each kind of conflict: read after write, write after read, write after write.
        """
        seen: dict[str, list[tuple[int, Touch]]] = {}
        found: list[tuple[int, int, Touch, Touch]] = []
        for number, own in enumerate(self.touches):
            pairs: dict[tuple[int, bool, bool], tuple[int, int, Touch, Touch]] = {}
            for touch in own:
                for earlier, other in seen.get(touch.root, ()):
                    if (touch.write or other.write) and overlap(touch.ranges, other.ranges):
                        key = (earlier, other.write, touch.write)
                        pairs.setdefault(key, (earlier, number, other, touch))
            found.extend(pairs[key] for key in sorted(pairs))
            for touch in own:
                seen.setdefault(touch.root, []).append((number, touch))
        return tuple(found)

    @cached_property
    def handles(self) -> dict[str, tuple[int, ...]]:
        """Return the leaves that are started under each handle."""
        found: dict[str, tuple[int, ...]] = {}
        for number, (leaf, owner) in enumerate(self.owned):
            handle = getattr(owner if owner is not None else leaf, "handle", None)
            if handle is not None and not isinstance(leaf, Wait):
                found[handle] = (*found.get(handle, ()), number)
        return found

    @cached_property
    def started(self) -> frozenset[int]:
        """Return the leaves that are only started where they are listed."""
        return frozenset(number for numbers in self.handles.values() for number in numbers)

    @cached_property
    def before(self) -> tuple[int, ...]:
        """Return for each leaf the set, as bits, of the leaves that are done before it begins."""
        numbers: dict[str, list[int]] = {}
        for number, (leaf, owner) in enumerate(self.owned):
            numbers[leaf.id] = [number]
            if owner is not None:
                numbers.setdefault(owner.id, []).append(number)
        found: list[int] = []
        for number, (leaf, owner) in enumerate(self.owned):
            direct = [each for name in leaf.after or () for each in numbers[name]]
            if leaf.after is None:
                direct = [e for e in range(number) if e not in self.started or self._same_whole(e, owner)]
            if isinstance(leaf, Wait):
                direct.extend(self.handles[leaf.handle])
            done = 0
            for each in direct:
                done |= found[each] | 1 << each
            found.append(done)
        return tuple(found)

    def _same_whole(self, number: int, owner: Collective | None) -> bool:
        return owner is not None and self.owned[number][1] is owner

    def ordered(self, first: int, second: int) -> bool:
        """Return whether the first leaf is done before the second begins."""
        return bool(self.before[second] >> first & 1)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Return the nodes of the graph by id, in program order; none where there is no graph."""
        graph = self.schedule.graph
        return {} if graph is None else {node.id: node for node in graph.nodes}

    @cached_property
    def program(self) -> dict[str, int]:
        """Return the place of each node in program order."""
        return {name: place for place, name in enumerate(self.nodes)}

    @property
    def stored(self) -> dict[str, Stored]:
        """Return the nodes that are names of storage, with the elements each names."""
        return self._storage[0]

    @property
    def assigned(self) -> tuple[Assigned, ...]:
        """Return what is assigned to, in program order, each with the node that does it or that calls who does."""
        return self._storage[1]

    @cached_property
    def _storage(self) -> tuple[dict[str, Stored], tuple[Assigned, ...]]:
        graph = self.schedule.graph
        return ({}, ()) if graph is None else storage_of(graph, graph.nodes, {}, self.values)

    @cached_property
    def given(self) -> dict[str, Indices]:
        """Return the bytes of each storage that hold data at the beginning."""
        found: dict[str, Indices] = {}
        for buffer in (each for each in self.schedule.buffers if each.preexisting):
            touch = self.touch(Access(buffer=buffer.id))
            found[touch.root] = joined(found.get(touch.root, NOTHING), touch.ranges)
        return found

    def is_given(self, buffer: str) -> bool:
        """Return whether a buffer holds data at the beginning, its own or its storage's."""
        touch = self.touch(Access(buffer=buffer))
        return self.buffers[buffer].preexisting or overlap(touch.ranges, self.given.get(touch.root, NOTHING))

    @cached_property
    def constants(self) -> frozenset[str]:
        """Return the constants, and what elementwise operations, casts and movement make of constants alone.

        What a pad or a reduce makes of no element is one too.
        """
        found: set[str] = set()
        for node in self.nodes.values():
            derived = node.op in {"alu", "cast", "bitcast", *MOVEMENT} and node.op != "detach"
            nothing = node.op in {"pad", "reduce"} and 0 in sizes(self.nodes[node.of[0]].shape, self.values)
            if node.op == "const" or nothing or (derived and found.issuperset(node.of)):
                found.add(node.id)
        return frozenset(found)

    def node_bytes(self, node: str) -> tuple[str, Indices]:
        """Return the storage and the bytes of it that a node, a name of storage, stands for."""
        return self.stored_bytes(self.stored[node])

    @cached_property
    def _named(self) -> dict[int, tuple[Stored, tuple[str, Indices]]]:
        return {}

    def stored_bytes(self, stored: Stored) -> tuple[str, Indices]:
        """Return the storage and the bytes of it that some elements of a buffer are; found once for all clauses."""
        known = self._named.get(id(stored))
        if known is None:
            # Kept with the elements, so that no others can take their identity.
            known = self._named[id(stored)] = stored, self._bytes_of(stored)
        return known[1]

    def _bytes_of(self, stored: Stored) -> tuple[str, Indices]:
        root, offset = self.root(stored.buffer)
        width = NUMPY[self.buffers[stored.buffer].dtype].itemsize
        starts = distinct(stored.at[stored.at >= 0]) * width + offset
        return root, merged(np.stack([starts, starts + width], axis=-1))

    @cached_property
    def writers(self) -> dict[str, list[tuple[int, Touch]]]:
        """Return for each node the leaves that are said to write its value, and where."""
        found: dict[str, list[tuple[int, Touch]]] = {}
        for number, own in enumerate(self.touches):
            for touch in own:
                if touch.write and touch.access.node is not None and not touch.access.parts:
                    found.setdefault(touch.access.node, []).append((number, touch))
        return found

    @cached_property
    def partial(self) -> dict[str, list[tuple[int, Touch]]]:
        """Return for each reduce the leaves that are said to write folds of parts of it, and where."""
        found: dict[str, list[tuple[int, Touch]]] = {}
        for number, own in enumerate(self.touches):
            for touch in own:
                if touch.write and touch.access.node is not None and touch.access.parts:
                    found.setdefault(touch.access.node, []).append((number, touch))
        return found

    @cached_property
    def assigning(self) -> dict[str, list[tuple[Node, int, Touch]]]:
        """Return the assigns with the leaves that write them and where, by whose bytes these are."""
        found: dict[str, list[tuple[Node, int, Touch]]] = {}
        for name, written in self.writers.items():
            for number, touch in written if self.nodes[name].op == "assign" else ():
                found.setdefault(self.home(touch.access.buffer), []).append((self.nodes[name], number, touch))
        return found

    @cached_property
    def assigns(self) -> dict[tuple[str, ...], list[Node]]:
        """Return the nodes that assign, in program order, by what they take: the target and the value."""
        found: dict[tuple[str, ...], list[Node]] = {}
        for node in self.nodes.values():
            if node.op == "assign":
                found.setdefault(node.of, []).append(node)
        return found

    @cached_property
    def computing(self) -> dict[str, list[int]]:
        """Return for each node the leaves that compute it."""
        found: dict[str, list[int]] = {}
        for number, (leaf, _) in enumerate(self.owned):
            for node in leaf.provenance:
                found.setdefault(node, []).append(number)
        return found

    @cached_property
    def _places(self) -> dict[str, Touch | None]:
        return {}

    def place(self, node: str) -> Touch | None:
        """Return the bytes where the value of a node is at the end, or ``None`` where nothing says; found once."""
        if node not in self._places:
            place = next((each for each in self.schedule.places if each.node == node), None)
            self._places[node] = None if place is None else self.touch(self._shown(place))
        return self._places[node]

    def _shown(self, place: Place) -> Access:
        count = math.prod(sizes(self.nodes[place.node].shape, self.values))
        width = NUMPY[self.buffers[place.buffer].dtype].itemsize
        return Access(buffer=place.buffer, map=place.map, ranges=((0, count * width),) if place.map is None else None)

    def home(self, buffer: str) -> str:
        """Return whose bytes those of a buffer are: the planned buffer it lies in, or the storage."""
        at = self.buffers[buffer]
        while at.base is not None and not at.planned:
            at = self.buffers[at.base]
        return at.id

    def device(self, leaf: Item) -> str:
        """Return the device that runs a leaf: for a copy, the one it is to."""
        if isinstance(leaf, Kernel):
            return leaf.device
        written = [access.buffer for access in accesses(leaf) if access.write]
        return self.buffers[written[0]].device if written else ""

    def name(self, number: int) -> str:
        """Return how a leaf is named to people."""
        leaf, owner = self.owned[number]
        return f"item {leaf.id!r}" + (f" of {owner.id!r}" if owner is not None else "")
