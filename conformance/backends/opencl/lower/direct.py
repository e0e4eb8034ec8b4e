"""Sharded-direct: every device computes what only it computes, reading its peers' memory where it lies."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph import Collective, Join, Movement, Part, Reduce, whole
from conformance.backends.opencl.lower.naive import joined
from conformance.backends.opencl.lower.received import operands
from conformance.backends.opencl.view import contiguous

SHARD_BYTES: Final = 128
"""Shards begin at multiples of this in every output, so that each can be a sub-buffer; the base-address alignment of
every CPU device measured. Where a device asks for more, the scheduler writes shards to storage of their own."""


def direct(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    """Return each member's result: its own part of the work, and for ``all_reduce`` every member's shard."""
    if made.operation == "all_reduce":
        return _sharded(made, group)
    if made.operation == "reduce_scatter":
        found = {}
        for position, rank in enumerate(group):
            pieces = operands(made, group, position)
            size = pieces[0].view.size
            found[rank] = whole(Reduce(rank, made.dtype, size, made.attrs["op"], pieces), made.shape)
        return found
    return {rank: joined(made, group, position, near=False) for position, rank in enumerate(group)}


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


def _sharded(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    blocks, op, elements = operands(made, group, 0), made.attrs["op"], contiguous(made.shape).size
    parts = []
    for rank, (first, size) in zip(group, shards(elements, len(group), FORMATS[made.dtype].itemsize), strict=False):
        shard = Reduce(rank, made.dtype, size, op, blocks, first)
        parts.append(Part(contiguous((size,)).shifted(first), whole(shard, (size,))))
    return {rank: whole(Join(rank, made.dtype, elements, tuple(parts)), made.shape) for rank in group}
