"""Which items must wait for which: conflicts of byte ranges, whatever the graph says."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.graph import Node


class Access(msgspec.Struct, frozen=True, eq=False):
    """Bytes ``start`` to ``stop`` of the storage of ``node``, read or written."""

    node: Node
    start: int
    stop: int
    write: bool


class Hazards:
    """The accesses so far. Read after write, write after read and write after write make edges; reads alone do not."""

    def __init__(self, places: Mapping[Node, int] = MappingProxyType({})) -> None:
        """Start with no access; nodes of one place share a storage, others have one each."""
        self._places = places
        self._seen: dict[Hashable, list[tuple[Access, int]]] = {}

    def record(self, item: int, accesses: tuple[Access, ...]) -> tuple[int, ...]:
        """Return, in order, the earlier items that conflict with the accesses of ``item``, and remember them."""
        found = set()
        for access in accesses:
            for other, earlier in self._seen.get(self._places.get(access.node, access.node), ()):
                if (access.write or other.write) and access.start < other.stop and other.start < access.stop:
                    found.add(earlier)
        for access in accesses:
            self._seen.setdefault(self._places.get(access.node, access.node), []).append((access, item))
        return tuple(sorted(found))
