"""A case as people read it: its lines, its values, and what it should give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from conformance.cases.tensor.dtypes import Array, logical
from conformance.report.failures.values import written

EVALUATED: Final = 1 << 16
"""Bytes of all inputs up to which the expected values are worked out: milliseconds, even for every bucket."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """The block that ``ranks`` (as text, ``0-3``) hold; ``layout`` is empty for a result."""

    ranks: str
    dtype: str
    shape: tuple[int, ...]
    layout: str
    values: str


class NamedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A named value of the program, rank by rank; neighbouring ranks that hold the same share a line."""

    name: str
    blocks: tuple[Block, ...]


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A case to read. ``rejection`` says why it has no meaning; ``problem`` why it, or a part of it, cannot be shown.

    ``dialect`` is the one that the case is of.
    """

    dialect: str = "spmd"
    mesh: str = ""
    world: int = 0
    steps: tuple[str, ...] = ()
    inputs: tuple[NamedValue, ...] = ()
    expected: tuple[NamedValue, ...] = ()
    rejection: str | None = None
    problem: str | None = None
    source: str | None = None


def blocks_of(arrays: Sequence[Array | None], layouts: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return what ranks hold; neighbours that hold the same share a line, and who holds nothing has none."""
    rows: list[tuple[int, Block]] = []
    for rank, array in enumerate(arrays):
        layout = layouts[rank] if layouts else ""
        if array is None:
            continue  # the rank has no part in this result
        block = Block(
            ranks=str(rank), dtype=logical(array.dtype), shape=array.shape, layout=layout, values=written(array)
        )
        if rows and msgspec.structs.replace(rows[-1][1], ranks="") == msgspec.structs.replace(block, ranks=""):
            first, last = rows[-1]
            rows[-1] = (first, msgspec.structs.replace(last, ranks=f"{first}-{rank}"))
        else:
            rows.append((rank, block))
    return tuple(block for _, block in rows)
