"""Schedules with a kernel body that is not well formed."""

from __future__ import annotations

from conformance.cases.schedule.builders import buffer, given, line, reads, schedule, writes
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Body, Cast, Instruction, Load, Store
from conformance.cases.schedule.schedule import Access, Kernel, Schedule
from conformance.qualification.violations.violation import violates


def _of(accesses: tuple[Access, ...], *instructions: Instruction, extents: tuple[int, ...] = (4,)) -> Schedule:
    """Return the schedule of one kernel that reads a and writes y."""
    body = Body(extents=extents, instructions=instructions)
    kernel = Kernel(id="k", device="d0", accesses=accesses, bodies=(body,))
    return schedule((*given("a", "b"), buffer("y", output=True)), [kernel])


ONE_LINE = (reads("a", line()), writes("y", line()))


@violates("bodies.C1")
def write_without_a_store() -> Schedule:
    """A kernel is said to write a buffer for which it has no store: the buffer holds what the allocator left."""
    own = (*ONE_LINE, writes("b", line()))
    return _of(own, Load(access=0), Store(access=1, of=0))


@violates("bodies.C2")
def read_without_a_load() -> Schedule:
    """The slots of a kernel have a gap.

    An argument is passed that the code does not take, and the ones behind it are shifted by one.
    """
    own = (reads("b", line()), *ONE_LINE)
    return _of(own, Load(access=1), Store(access=2, of=0))


@violates("bodies.C3")
def stored_in_another_dtype() -> Schedule:
    """A value accumulated in float64 is stored into a float32 buffer without rounding: every second word is noise."""
    return _of(ONE_LINE, Load(access=0), Cast(of=0, dtype="float64"), Store(access=1, of=1))


@violates("bodies.C4")
def index_out_of_bounds() -> Schedule:
    """The last element is read one place too far: a shifted view of a buffer lost its mask."""
    return _of((reads("a", line(4, 1)), writes("y", line())), Load(access=0), Store(access=1, of=0))


@violates("bodies.C5")
def open_range() -> Schedule:
    """A value that still depends on a loop is stored outside of it.

    Two reduces shared a range, and the end of one was lost. Seen in tinygrad #14504.
    """
    wide = (Affine(extents=(2, 2), strides=(2, 1)),)
    narrow = (Affine(extents=(2, 2), strides=(1, 0)),)
    return _of((reads("a", wide), writes("y", narrow)), Load(access=0), Store(access=1, of=0), extents=(2, 2))


@violates("bodies.C6")
def two_points_for_one_element() -> Schedule:
    """A scatter writes overlapping windows side by side: which of the two values stays depends on the device."""
    wide = (Affine(extents=(2, 2), strides=(2, 1)),)
    windows = (Affine(extents=(2, 2), strides=(1, 1)),)
    return _of((reads("a", wide), writes("y", windows)), Load(access=0), Store(access=1, of=0), extents=(2, 2))
