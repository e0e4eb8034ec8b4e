"""Graphs of tinygrad's tests of its scheduler (lazy and kernel graph), with the numbers of kernels expected there.

Each row has its number in the list of counts, what it is, and the kernels of January 2025 and August 2026; ``None``
where there is none. A function lists the nodes and returns what is asked for, in rounds where there are several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final, NamedTuple

from conformance.bench.graphs.tensors import GraphListing, Lazy
from conformance.cases.graph.case import GraphCase

ROOMS: Final = ("elementwise_rows", "reducing_rows", "layer_rows")
"""The modules of this folder that have rows."""

AskedTensors = Lazy | tuple[Lazy, ...]


class Row(NamedTuple):
    """One row: the kernels of its last round are counted."""

    number: int
    what: str
    old: int | None
    new: int | None
    case: GraphCase


ROWS: list[tuple[int, str, int | None, int | None, Callable[[GraphListing], AskedTensors]]] = []


def row(
    number: int, what: str, old: int | None, new: int | None
) -> Callable[[Callable[[GraphListing], AskedTensors]], None]:
    """Return the decorator that makes a function a row."""

    def keep(made: Callable[[GraphListing], AskedTensors]) -> None:
        ROWS.append((number, what, old, new, made))

    return keep


def rows() -> Iterator[Row]:
    """Yield all rows by number."""
    for room in ROOMS:
        import_module(f"conformance.bench.graphs.{room}")
    for number, what, old, new, made in sorted(ROWS, key=lambda row: row[0]):
        listing = GraphListing()
        asked = made(listing)
        wanted = asked if isinstance(asked, tuple) else (asked,)
        yield Row(number, what, old, new, listing.case(wanted))


def many(listing: GraphListing, count: int, *shape: int) -> list[Lazy]:
    """List several buffers of one shape."""
    return [listing.buffer(*shape) for _ in range(count)]
