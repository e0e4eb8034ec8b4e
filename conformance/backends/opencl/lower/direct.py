"""Sharded-direct: every device computes what only it computes, reading its peers' memory where it lies."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Join, Movement, Part, whole
from conformance.backends.opencl.graph.view import contiguous
from conformance.backends.opencl.lower.folds import Folding

SHARD_BYTES: Final = 128
"""Shards begin at multiples of this in every output, so that each can be a sub-buffer; the base-address alignment of
every CPU device measured. Where a device asks for more, the scheduler writes shards to storage of their own."""


def fold(folding: Folding, group: tuple[int, ...], wanted: tuple[int, ...]) -> dict[int, Movement]:
    """Return the end result on every ``wanted`` position: each member folds its shard and writes it to all of them."""
    parts = []
    for rank, (first, size) in zip(
        group, shards(folding.size, len(group), FORMATS[folding.dtype].itemsize), strict=False
    ):
        shard = folding.of_raw(rank, folding.raw, first, size)
        parts.append(Part(contiguous((size,)).shifted(first), shard))
    return {
        position: whole(Join(group[position], folding.dtype, folding.size, tuple(parts)), (folding.size,))
        for position in wanted
    }


def shards(elements: int, members: int, itemsize: int) -> tuple[tuple[int, int], ...]:
    """Return ``(first, size)`` for each non-empty shard: as even as whole ``SHARD_BYTES`` allow, in order."""
    grain = max(1, SHARD_BYTES // itemsize)
    grains = -(-elements // grain)
    base, left = divmod(grains, members)
    found, first = [], 0
    for member in range(members):
        stop = min(elements, first + (base + (member < left)) * grain)
        if stop > first:
            found.append((first, stop - first))
        first = stop
    return tuple(found)
