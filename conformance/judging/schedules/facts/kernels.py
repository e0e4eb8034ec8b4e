"""What a kernel is known to do, whatever it is for."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases.schedule.kernel_body import Load, Store
from conformance.cases.schedule.schedule import Access, Kernel


def moves_only(leaf: Kernel) -> bool:
    """Return whether a kernel is known to move values and to do nothing else."""
    return any(moved(leaf))


def moved(leaf: Kernel) -> Iterator[tuple[Access, Access]]:
    """Yield by which accesses a kernel that only loads and stores reads and writes each value; of another nothing."""
    if all(isinstance(each, Load | Store) for body in leaf.bodies for each in body.instructions):
        for body in leaf.bodies:
            for each in body.instructions:
                load = body.instructions[each.of] if isinstance(each, Store) else None
                if isinstance(each, Store) and isinstance(load, Load):
                    yield leaf.accesses[load.access], leaf.accesses[each.access]


def movements(leaf: Kernel) -> Iterator[tuple[Access, Access]]:
    """Yield by which accesses a kernel only moves values, or may: of one without a body nobody knows what it does."""
    yield from moved(leaf)
    if not leaf.bodies:
        yield from ((read, write) for read in leaf.accesses for write in leaf.accesses if write.write > read.write)
