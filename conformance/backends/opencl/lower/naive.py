"""Naive: every member copies what it needs to its own device, then works alone."""

from __future__ import annotations

from conformance.backends.opencl.graph import Collective, Copy, Join, Movement, Part, Reduce, whole
from conformance.backends.opencl.lower.received import REDUCING, arrivals, operands


def naive(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    """Return each member's result: copies gathered on its device and folded or joined in member order."""
    found = {}
    for position, rank in enumerate(group):
        if made.operation in REDUCING:
            gathered = tuple(fetched(each, rank) for each in operands(made, group, position))
            size = gathered[0].view.size
            found[rank] = whole(Reduce(rank, made.dtype, size, made.attrs["op"], gathered), made.shape)
        else:
            found[rank] = joined(made, group, position, near=True)
    return found


def joined(made: Collective, group: tuple[int, ...], position: int, *, near: bool) -> Movement:
    """Return what arrives at ``position``, copied to its device first when ``near``, else read where it lies."""
    rank, parts, size = group[position], [], 0
    for arrival in arrivals(made, group, position):
        size += arrival.at.size
        if arrival.source is None:
            parts.append(Part(arrival.at, None))
        else:
            there = Movement(made.blocks[group[arrival.source]].node, arrival.taken)
            parts.append(Part(arrival.at, fetched(there, rank) if near else there))
    return whole(Join(rank, made.dtype, size, tuple(parts)), made.shape)


def fetched(block: Movement, device: int) -> Movement:
    """Return ``block`` on ``device``: a raw copy of the elements its view spans, or itself when already there."""
    if block.node.device == device:
        return block
    start, stop = block.view.span
    copy = Copy(device, block.node.dtype, stop - start, block.node, start)
    return Movement(copy, block.view.shifted(-start))
