"""Well-formed kernel bodies: every write is stored once, in its dtype, in bounds, and by one point."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from conformance.cases.graph.extent import sizes
from conformance.cases.schedule.body_form import dtypes_of
from conformance.cases.schedule.kernel_body import Body, Fetch, Index, Load, Reduce, Store, sources
from conformance.cases.schedule.runs import distinct
from conformance.cases.schedule.schedule import Kernel, accesses
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts.subjects import body_that_touches, mapped, some_body
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.data import DANGEROUS_DRAWS, DRAWS, WIDE_DRAWS
from conformance.reference.schedule.execute import as_listed, executable
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.points import behind, moving_axes, positions


def _stores(body: Body) -> bool:
    return any(isinstance(each, Store) for each in body.instructions)


def _fetches(body: Body) -> bool:
    return any(isinstance(each, Fetch) for each in body.instructions)


def _written_by_points(facts: Facts) -> bool:
    """Speak of kernels that store at known points, or that have several writes."""
    several = any(isinstance(leaf, Kernel) and sum(a.write for a in leaf.accesses) > 1 for leaf in facts.leaves)
    return several or some_body(_stores)(facts)


def _bodies(facts: Facts) -> Iterator[tuple[int, Kernel, Body]]:
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Kernel):
            yield from ((number, leaf, body) for body in leaf.bodies)


def stored_once(facts: Facts) -> str | None:
    """Find a write that not exactly one instruction stores."""
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Kernel) and leaf.bodies:
            stores = Counter(e.access for body in leaf.bodies for e in body.instructions if isinstance(e, Store))
            for at, access in enumerate(leaf.accesses):
                if access.write and stores[at] != 1:
                    return f"{facts.name(number)} stores its write of {access.buffer!r} {stores[at]} times, not once"
    return None


def loaded(facts: Facts) -> str | None:
    """Find a read that no instruction loads."""
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Kernel) and leaf.bodies:
            loads = {e.access for body in leaf.bodies for e in body.instructions if isinstance(e, Load | Fetch)}
            for at, access in enumerate(leaf.accesses):
                if not access.write and at not in loads:
                    return f"{facts.name(number)} says that it reads {access.buffer!r}, and loads nothing of it"
    return None


def dtype_kept(facts: Facts) -> str | None:
    """Find a store of another dtype than the buffer's."""
    for number, leaf, body in _bodies(facts):
        dtypes = dtypes_of(body, leaf, facts.buffers)
        for each in body.instructions:
            if isinstance(each, Store):
                buffer = facts.buffers[leaf.accesses[each.access].buffer]
                if dtypes[each.of] != buffer.dtype:
                    return f"{facts.name(number)} stores {dtypes[each.of]} in {buffer.id!r}, which is {buffer.dtype}"
    return None


def in_bounds(facts: Facts) -> str | None:
    """Find an access by map to an element that its buffer has not."""
    for number, leaf in enumerate(facts.leaves):
        for access in accesses(leaf):
            if access.map is not None:
                buffer = facts.buffers[access.buffer]
                count = buffer.size // NUMPY[buffer.dtype].itemsize
                found = facts.runs(access, facts.bound(leaf))
                if len(found) and (found[0, 0] < 0 or found[-1, 1] > count):
                    at = found[0, 0] if found[0, 0] < 0 else found[-1, 1] - 1
                    return f"{facts.name(number)} touches element {at} of {buffer.id!r}, which has {count}"
    return None


def open_axes(facts: Facts, leaf: Kernel, body: Body) -> list[frozenset[int]]:
    """Return for each instruction the axes that its value depends on."""
    values = facts.bound(leaf)
    shape = sizes(body.extents, values)
    found: list[frozenset[int]] = []
    for each in body.instructions:
        axes = frozenset(axis for source in sources(each) for axis in found[source])
        if isinstance(each, Load | Fetch):
            moving = moving_axes(*positions(facts, leaf.accesses[each.access], values))
            axes |= {axis for axis in moving if axis < len(shape)}
        elif isinstance(each, Index):
            axes = frozenset({each.axis} if shape[each.axis] > 1 else ())
        elif isinstance(each, Reduce):
            axes -= set(each.axes)
        found.append(axes)
    return found


def no_open_range(facts: Facts) -> str | None:
    """Find a store of a value along an axis that the place of the store does not move along.

    What is stored at no point depends on none.
    """
    for number, leaf, body in _bodies(facts):
        axes = open_axes(facts, leaf, body)
        for each in body.instructions:
            if isinstance(each, Store):
                access = leaf.accesses[each.access]
                places, valid = positions(facts, access, facts.bound(leaf))
                left = axes[each.of] - moving_axes(places, valid)
                if left and valid.any():
                    return (
                        f"{facts.name(number)} stores in {access.buffer!r} a value that depends on axis {min(left)}, "
                        "which is neither reduced nor a part of the place"
                    )
    return None


def one_point_each(facts: Facts) -> str | None:
    """Find an element that two points, or two stores, of a kernel write."""
    for number, leaf, body in _bodies(facts):
        for each in body.instructions:
            if isinstance(each, Store):
                access = leaf.accesses[each.access]
                found, valid = positions(facts, access, facts.bound(leaf))
                moving = moving_axes(found, valid)
                part = tuple(slice(None) if a in moving else slice(0, 1) for a in range(found.ndim))
                places = found[part][valid[part]]
                if len(distinct(places)) != math.prod(places.shape):
                    return f"{facts.name(number)} writes an element of {access.buffer!r} at two points"
    for number, each_leaf in enumerate(facts.leaves):
        written = [touch for touch in facts.touches[number] if touch.write and isinstance(each_leaf, Kernel)]
        for place, touch in enumerate(written):
            for other in written[:place]:
                pair = (touch.access, other.access)
                if behind(each_leaf, *pair) or behind(each_leaf, *reversed(pair)):
                    continue
                if touch.root == other.root and overlap(touch.ranges, other.ranges):
                    return f"{facts.name(number)} writes an element of {touch.access.buffer!r} by two accesses"
    return None


def within_its_axis(facts: Facts) -> str | None:
    """Find an index that data give and that is outside its axis, on any data drawn; say nothing where a run ends."""
    told = True
    for seed in range(DRAWS + WIDE_DRAWS + DANGEROUS_DRAWS):
        try:
            as_listed(facts, seed)
        except ScheduleError as error:
            if error.clause == "bodies.C7":
                return str(error)
            told = False
    return None if told else SILENT


def nothing_idle(facts: Facts) -> str | None:
    """Find an axis of a body along which nothing moves and nothing is folded."""
    for number, leaf, body in _bodies(facts):
        values = facts.bound(leaf)
        shape = sizes(body.extents, values)
        used = {axis for each in body.instructions if isinstance(each, Reduce) for axis in each.axes}
        used |= {each.axis for each in body.instructions if isinstance(each, Index)}
        for each in body.instructions:
            if isinstance(each, Load | Fetch | Store):
                used |= moving_axes(*positions(facts, leaf.accesses[each.access], values))
        idle = [axis for axis, extent in enumerate(shape) if extent > 1 and axis not in used]
        if idle:
            return f"{facts.name(number)} computes the same at all {shape[idle[0]]} points of axis {idle[0]}"
    return None


BODIES = (
    ScheduleClause(
        "bodies.C1",
        "For every access that a kernel with bodies lists as a write, its bodies have exactly one store by that "
        "access.",
        "tinygrad.schedule: bufferize_to_store",
        stored_once,
        body_that_touches(writes=True),
    ),
    ScheduleClause(
        "bodies.C2",
        "Every access that a kernel with bodies lists as a read is loaded by at least one instruction of its bodies.",
        "tinygrad.schedule: debuf",
        loaded,
        body_that_touches(writes=False),
        requirement="should",
    ),
    ScheduleClause(
        "bodies.C3",
        "A value that an instruction of a body stores has the dtype of the buffer that it is stored in.",
        "tinygrad.schedule: bufferize_to_store",
        dtype_kept,
        some_body(_stores),
    ),
    ScheduleClause(
        "bodies.C4",
        "Every element that an access by an index map touches is within the buffer of the access. At points where "
        "the map has zeros of a pad the access touches none.",
        "tinygrad.schedule: _mop_index",
        in_bounds,
        mapped,
    ),
    ScheduleClause(
        "bodies.C5",
        "A value that an instruction stores depends on no axis of its body along which the place of the store "
        "stays the same. What was folded along an axis no longer depends on it.",
        "tinygrad.schedule: split_store",
        no_open_range,
        some_body(_stores),
    ),
    ScheduleClause(
        "bodies.C6",
        "A store writes no element at two points that differ along an axis along which its place changes, and two "
        "writes of a kernel share no element unless a barrier of all points is between them.",
        "tinygrad.schedule: bufferize_to_store",
        one_point_each,
        _written_by_points,
    ),
    ScheduleClause(
        "bodies.C7",
        "An index that a body reads from data, to load an element by it, is at least 0 and less than the extent "
        "of the axis that it is an index of.",
        "tinygrad.schedule: _mop_index",
        within_its_axis,
        lambda facts: some_body(_fetches)(facts) and executable(facts) is None,
    ),
    ScheduleClause(
        "bodies.C8",
        "Along every axis of a body that has an extent above 1, the place of some access changes, a fold runs, or "
        "the index itself is taken as a value.",
        "tinygrad.schedule: cleanup_dead_axes",
        nothing_idle,
        some_body(_stores),
        requirement="may",
    ),
)
