"""All-to-all: chunks are exchanged directly, each member folds one, and the folded chunks are exchanged directly."""

from __future__ import annotations

from conformance.backends.opencl.graph.node import Join, Movement, Part, whole
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.lower.chunks import chunks
from conformance.backends.opencl.lower.device_copies import fetched
from conformance.backends.opencl.lower.folds import Folding


def fold(folding: Folding, group: tuple[int, ...], wanted: tuple[int, ...]) -> dict[int, Movement]:
    """Return the end result on every ``wanted`` position, each chunk folded in member order by its own member."""
    ready, folded = folding.ready(), []
    for rank, (start, stop) in zip(group, chunks(folding.size, len(group)), strict=False):
        at = View((stop - start,), (1,))
        pieces = tuple(fetched(Movement(block.node, at.shifted(block.view.offset + start)), rank) for block in ready)
        folded.append((at.shifted(start), folding.of_ready(rank, pieces, last=True)))
    found = {}
    for position in wanted:
        rank = group[position]
        parts = tuple(Part(at, fetched(chunk, rank)) for at, chunk in folded)
        found[position] = whole(Join(rank, folding.dtype, folding.size, parts), (folding.size,))
    return found
