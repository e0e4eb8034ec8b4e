"""Which items must wait for which: conflicts of byte ranges, whatever the graph says."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.graph.node import Node


class Access(msgspec.Struct, frozen=True, eq=False):
    """Bytes ``start`` to ``stop`` of the storage of ``node``, read or written."""

    node: Node
    start: int
    stop: int
    write: bool


class Hazards:
    """The accesses so far. Read after write, write after read and write after write make edges; reads alone do not.

    Of two values that have one storage after each other, the second begins when all of the first is done with,
    whichever bytes are meant: in any order that keeps the edges, the bytes of a value are its own while it is in use.
    """

    def __init__(
        self, places: Mapping[Node, int] = MappingProxyType({}), roots: Mapping[Node, Node] = MappingProxyType({})
    ) -> None:
        """Start with no access; nodes of one place share a storage, others have one each.

        Those that ``roots`` names lie in that of another and are the same value, as it changes.
        """
        self._places, self._roots = places, roots
        self._seen: dict[Hashable, list[tuple[Access, int]]] = {}

    def record(self, item: int, accesses: tuple[Access, ...]) -> tuple[int, ...]:
        """Return, in order, the earlier items that conflict with the accesses of ``item``, and remember them."""
        found = set()
        for access in accesses:
            for other, earlier in self._seen.get(self._places.get(access.node, access.node), ()):
                if (access.write or other.write) and self._meet(access, other):
                    found.add(earlier)
        for access in accesses:
            self._seen.setdefault(self._places.get(access.node, access.node), []).append((access, item))
        return tuple(sorted(found))

    def _meet(self, access: Access, other: Access) -> bool:
        one, two = (self._roots.get(each.node, each.node) for each in (access, other))
        return one is not two or (access.start < other.stop and other.start < access.stop)
