"""What a kernel is known to do, whatever it is for."""

from __future__ import annotations

from conformance.cases.schedule.kernel_body import Load, Store
from conformance.cases.schedule.schedule import Kernel


def moves_only(leaf: Kernel) -> bool:
    """Return whether a kernel is known to move a value and nothing else."""
    kinds = [type(each) for body in leaf.bodies for each in body.instructions]
    return len(leaf.bodies) == 1 and kinds == [Load, Store]


def moved(leaf: Kernel) -> tuple[int, int]:
    """Return the numbers of the accesses that a kernel which only moves a value reads and writes by."""
    load, store = leaf.bodies[0].instructions
    assert isinstance(load, Load)
    assert isinstance(store, Store)
    return load.access, store.access
