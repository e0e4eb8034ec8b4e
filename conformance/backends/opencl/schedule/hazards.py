"""Which items must wait for which: conflicts of byte ranges, whatever the graph says."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Node


class Access(msgspec.Struct, frozen=True, eq=False):
    """Bytes ``start`` to ``stop`` of ``node``, read or written."""

    node: Node
    start: int
    stop: int
    write: bool


Owned = tuple[int, int, Node]
"""The bytes of a storage from a first up to a last, and the value that had them last."""


class Hazards:
    """The accesses so far. Read after write, write after read and write after write make edges; reads alone do not.

    Of two values that have bytes after each other, the second begins when all of the first is done with, whichever
    bytes are meant: in any order that keeps the edges, the bytes of a value are its own while it is in use. Who takes
    bytes waits for who had them last, and so for all who had them before.
    """

    def __init__(
        self,
        places: Mapping[Node, int] = MappingProxyType({}),
        roots: Mapping[Node, Node] = MappingProxyType({}),
        offsets: Mapping[Node, int] = MappingProxyType({}),
    ) -> None:
        """Start with no access; ``places`` numbers the storage of nodes, where they begin at byte ``offsets``.

        Those without a place have a storage each. Those that ``roots`` names lie in that of another and are the same
        value, as it changes.
        """
        self._places, self._roots, self._offsets = places, roots, offsets
        self._seen: dict[Node, list[tuple[Access, int]]] = {}
        self._before: dict[Node, tuple[Node, ...]] = {}
        self._owned: dict[Hashable, list[Owned]] = {}

    def record(self, item: int, accesses: tuple[Access, ...]) -> tuple[int, ...]:
        """Return, in order, the earlier items that conflict with the accesses of ``item``, and remember them."""
        found = set()
        for access in accesses:
            root = self._root(access)
            for other, earlier in self._seen.get(root, ()):
                if (access.write or other.write) and access.start < other.stop and other.start < access.stop:
                    found.add(earlier)
            for past in self._before[root] if root in self._before else self._taken(root):
                found.update(earlier for other, earlier in self._seen[past] if access.write or other.write)
        for access in accesses:
            self._seen.setdefault(self._root(access), []).append((access, item))
        return tuple(sorted(found))

    def _root(self, access: Access) -> Node:
        return self._roots.get(access.node, access.node)

    def _taken(self, root: Node) -> tuple[Node, ...]:
        """Give a value its bytes, and return the values that had some of them last."""
        start = self._offsets.get(root, 0)
        stop = start + root.size * FORMATS[root.dtype].itemsize
        place = self._places.get(root, root)
        past: dict[Node, None] = {}
        left: list[Owned] = [(start, stop, root)]
        for first, end, owner in self._owned.get(place, ()):
            if first < stop and start < end:
                past[owner] = None
                left += [(*part, owner) for part in ((first, start), (stop, end)) if part[0] < part[1]]
            else:
                left.append((first, end, owner))
        self._owned[place] = left
        found = self._before[root] = tuple(past)
        return found
