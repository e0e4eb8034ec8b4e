"""Naive: every member copies what it needs to its own device, then works alone."""

from __future__ import annotations

from conformance.backends.opencl.graph.node import Movement
from conformance.backends.opencl.lower.device_copies import fetched
from conformance.backends.opencl.lower.folds import Folding


def fold(folding: Folding, group: tuple[int, ...], wanted: tuple[int, ...]) -> dict[int, Movement]:
    """Return the end result on every ``wanted`` position: copies of all operands, folded in member order."""
    return {
        position: folding.of_raw(rank, tuple(fetched(each, rank) for each in folding.raw))
        for position, rank in ((position, group[position]) for position in wanted)
    }
