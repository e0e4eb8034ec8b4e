"""Values that are computed once for several items."""

from __future__ import annotations

from conformance.cases.schedule.kernel_body import Constant, Load, Store
from conformance.cases.schedule.schedule import Kernel
from conformance.reference.schedule.facts import Facts


def computed_for_several(facts: Facts) -> int:
    """Count the kernels that compute what two other items read and what is no result in the end.

    A kernel that only moves, as far as its bodies are known, computes nothing.
    """
    return sum(
        any(access.write and _shared(facts, number, access.buffer) for access in leaf.accesses)
        for number, leaf in enumerate(facts.leaves)
        if isinstance(leaf, Kernel) and not _only_moves(leaf)
    )


def _shared(facts: Facts, number: int, buffer: str) -> bool:
    """Return whether two items read what a leaf writes to a buffer, and it is written over or belongs to no result."""
    readers = 0
    for later in facts.touches[number + 1 :]:
        used = {touch.write for touch in later if touch.access.buffer == buffer}
        readers += False in used
        if True in used:
            return readers > 1
    return readers > 1 and all(place.buffer != buffer for place in facts.schedule.places)


def _only_moves(kernel: Kernel) -> bool:
    lines = [line for body in kernel.bodies for line in body.instructions]
    return bool(lines) and all(isinstance(line, Load | Constant | Store) for line in lines)
