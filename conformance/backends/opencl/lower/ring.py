"""Ring: partial results travel from member to member, so each device speaks to its neighbour only."""

from __future__ import annotations

from conformance.backends.opencl.graph.node import Join, Movement, Part, whole
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.lower.chunks import chunks
from conformance.backends.opencl.lower.device_copies import fetched
from conformance.backends.opencl.lower.folds import Folding, Operands


def fold(folding: Folding, group: tuple[int, ...], wanted: tuple[int, ...]) -> dict[int, Movement]:
    """Return the end result on every ``wanted`` position.

    For one position the block goes once round and ends there. For several it is cut into chunks that set out at
    different members, and every complete chunk goes round a second time.
    """
    size, ready = len(group), folding.ready()
    if len(wanted) == 1:
        # A block that sets out one member after its owner ends its round at the owner.
        return {wanted[0]: _round(folding, group, ready, (wanted[0] + 1) % size)}
    found: dict[int, list[Part]] = {position: [] for position in wanted}
    for i, (start, stop) in enumerate(chunks(folding.size, size)):
        at = View((stop - start,), (1,))
        travelling = tuple(Movement(block.node, at.shifted(block.view.offset + start)) for block in ready)
        here = _round(folding, group, travelling, i)
        for step in range(size):
            position = (i + size - 1 + step) % size
            here = fetched(here, group[position])
            if position in found:
                found[position].append(Part(at.shifted(start), here))
    return {
        position: whole(Join(group[position], folding.dtype, folding.size, tuple(parts)), (folding.size,))
        for position, parts in found.items()
    }


def _round(folding: Folding, group: tuple[int, ...], ready: Operands, start: int) -> Movement:
    """Return the reduction of ``ready`` after it went once round from ``start``, on the last member it reached."""
    size, carried = len(group), ready[start]
    if size == 1:
        return folding.of_ready(group[0], (carried,), last=True)
    for step in range(1, size):
        here = (start + step) % size
        pair = (ready[here], fetched(carried, group[here]))
        carried = folding.of_ready(group[here], pair, last=step == size - 1)
    return carried
