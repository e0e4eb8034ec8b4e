"""The memory plan: who may share bytes, where they may lie, and how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.schedule import Copy
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.schedules.clause import PairClause, ScheduleClause
from conformance.judging.schedules.facts.lifetimes import over, sharing
from conformance.judging.schedules.facts.subjects import both, some_buffer
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules.order import wrong_value


def _planned(facts: Facts) -> list[Buffer]:
    return [buffer for buffer in facts.schedule.buffers if buffer.planned]


def _plans(facts: Facts) -> bool:
    return bool(_planned(facts))


def _is_part(buffer: Buffer) -> bool:
    return buffer.base is not None


def _share(facts: Facts, first: Buffer, second: Buffer) -> bool:
    (root, start), (other, begin) = facts.root(first.id), facts.root(second.id)
    return root == other and start < begin + second.size and begin < start + first.size


def disjoint_lives(facts: Facts) -> str | None:
    """Find a planned buffer that shares bytes with another one, or with a view of its arena, while both are in use.

    What a kernel, a copy or a collective does in place ends one use and begins the other.
    """
    for first, one, second, other in sharing(facts):
        if not (over(facts, one, other) or over(facts, other, one)):
            at = max(one.first, other.first, 0)
            return f"{first!r} and {second!r} share bytes, and both are in use at {facts.name(at)}"
    return None


def _planned_anew(facts: Facts) -> list[Buffer]:
    """Return what is planned in arenas of this schedule alone: one that lasts may serve others."""
    return [each for each in _planned(facts) if not facts.buffers[facts.root(each.id)[0]].allocation]


def only_what_is_inside(facts: Facts) -> str | None:
    """Find a planned buffer, or an arena, that is seen from outside."""
    arenas = {facts.root(buffer.id)[0] for buffer in _planned(facts)}
    for buffer in _planned(facts):
        for each in (buffer, facts.buffers[facts.root(buffer.id)[0]]):
            for flag in ("preexisting", "held", "output"):
                if getattr(each, flag):
                    return f"buffer {each.id!r} is {flag}, and yet in the memory plan"
    for name in _read_afterwards(facts):
        if facts.root(name)[0] in arenas:
            return f"buffer {name!r} is read afterwards, and yet in the memory plan"
    return None


def _read_afterwards(facts: Facts) -> Iterator[str]:
    """Yield the buffers that are read after the schedule, as they say or as results are in them at the end."""
    yield from (buffer.id for buffer in facts.schedule.buffers if buffer.output)
    yield from (place.buffer for place in facts.schedule.places)
    for result in facts.schedule.graph.results if facts.schedule.graph else ():
        if result in facts.stored:
            yield facts.stored[result].buffer


def _seen_from_outside(facts: Facts) -> bool:
    flagged = some_buffer(lambda each: each.preexisting or each.held or each.output)
    return flagged(facts) or any(_read_afterwards(facts))


def where_there_are_parts(facts: Facts) -> str | None:
    """Find a planned buffer, or its arena, on a device without sub-buffers."""
    for buffer in _planned(facts):
        for device in (buffer.device, facts.buffers[facts.root(buffer.id)[0]].device):
            if facts.schedule.devices[device].alignment == 0:
                return f"buffer {buffer.id!r} is planned on {device}, which has no sub-buffers"
    return None


def aligned(facts: Facts) -> str | None:
    """Find a planned buffer that does not begin at a multiple of the device's alignment."""
    for buffer in _planned(facts):
        alignment, (_, offset) = facts.schedule.devices[buffer.device].alignment, facts.root(buffer.id)
        if alignment and offset % alignment:
            return f"buffer {buffer.id!r} begins at byte {offset}, no multiple of {alignment} on {buffer.device}"
    return None


def in_the_arena(facts: Facts) -> str | None:
    """Find a planned buffer that ends behind its arena."""
    for buffer in _planned(facts):
        assert buffer.base is not None
        base = facts.buffers[buffer.base]
        if buffer.offset + buffer.size > base.size:
            return (
                f"buffer {buffer.id!r} ends at byte {buffer.offset + buffer.size} of {base.id!r}, which has {base.size}"
            )
    return None


def whole_elements(facts: Facts) -> str | None:
    """Find a part that begins within an element of its dtype."""
    for buffer in facts.schedule.buffers:
        width, (_, offset) = NUMPY[buffer.dtype].itemsize, facts.root(buffer.id)
        if offset % width:
            return f"buffer {buffer.id!r} begins at byte {offset}, within an element of {buffer.dtype}"
    return None


def no_larger_than_without(facts: Facts) -> str | None:
    """Find an arena that is larger than its buffers side by side."""
    arenas: dict[str, int] = {}
    for buffer in _planned_anew(facts):
        alignment = max(facts.schedule.devices[buffer.device].alignment, 1)
        root = facts.root(buffer.id)[0]
        arenas[root] = arenas.get(root, 0) + -(-buffer.size // alignment) * alignment
    for root, most in arenas.items():
        if facts.buffers[root].size > most:
            return f"arena {root!r} has {facts.buffers[root].size} bytes, and its buffers side by side only {most}"
    return None


def on_its_device(facts: Facts) -> str | None:
    """Find a planned buffer whose arena is on another device."""
    for buffer in _planned(facts):
        root = facts.buffers[facts.root(buffer.id)[0]]
        if root.device != buffer.device:
            return f"buffer {buffer.id!r} on {buffer.device} is planned in {root.id!r} on {root.device}"
    return None


def _lane(buffer: Buffer) -> tuple[str, str, str, str, int]:
    return buffer.communication, buffer.communication_kind, buffer.device, buffer.dtype, buffer.size


def _nested(facts: Facts, first: Buffer, second: Buffer) -> bool:
    """Return whether one buffer is a part of the other, or a part of a part of it."""
    return _in(facts, first, second) or _in(facts, second, first)


def _in(facts: Facts, part: Buffer, whole: Buffer) -> bool:
    while part.base is not None and part.id != whole.id:
        part = facts.buffers[part.base]
    return part.id == whole.id


def communication_apart(facts: Facts) -> str | None:
    """Find a buffer of a communicator that shares bytes with another than its like, planned or not."""
    for first, second in combinations(facts.schedule.buffers, 2):
        apart = (first.communication or second.communication) and _lane(first) != _lane(second)
        if apart and _share(facts, first, second) and not _nested(facts, first, second):
            one, other = (first, second) if first.communication else (second, first)
            return f"{one.id!r} of group {one.communication!r} shares bytes with {other.id!r}, which is not its like"
    return None


def same_values(first: Facts, second: Facts) -> str | None:
    """Find a value that differs from the graph's, with the plan or without it, or a plan where none was asked for."""
    kept = _planned(second)
    if kept:
        return f"without the memory plan, buffer {kept[0].id!r} is planned"
    for which, facts in (("with", first), ("without", second)):
        problem = wrong_value(facts)
        if problem:
            return f"{which} the memory plan, {problem}"
    return None


def _both_run(first: Facts, second: Facts) -> bool:
    """Speak of schedules that can be run, and of a second one that can be seen to be planned though it cannot."""
    return bool(_planned(second)) or (executable(first) is None and executable(second) is None)


def copies_apart(facts: Facts) -> str | None:
    """Find an arena that holds what a copy touches beside what none does."""
    copied = {facts.home(access.buffer) for leaf in facts.leaves if isinstance(leaf, Copy) for access in leaf.accesses}
    arenas: dict[str, dict[bool, str]] = {}
    for buffer in _planned(facts):
        arenas.setdefault(facts.root(buffer.id)[0], {})[buffer.id in copied] = buffer.id
    for arena, kinds in arenas.items():
        if len(kinds) > 1:
            return (
                f"{kinds[True]!r}, which a copy touches, and {kinds[False]!r}, which none does, are both in {arena!r}"
            )
    return None


def base_is_no_view(facts: Facts) -> str | None:
    """Find a view of a view."""
    for buffer in facts.schedule.buffers:
        base = facts.buffers[buffer.base] if buffer.base is not None else None
        if base is not None and not buffer.planned and base.base is not None and not base.planned:
            return f"buffer {buffer.id!r} is a view of {base.id!r}, itself a view of {base.base!r}"
    return None


OURS = "ours"
"""The source of what no source settles: none has a memory plan."""

MEMORY = (
    ScheduleClause(
        "memory.C1",
        "A planned buffer and another buffer, not a view of it, that share bytes are not in use at once: from the "
        "first item of each to the end of its last, or always if reachable from outside. An item in place can end "
        "one use and begin the other.",
        OURS,
        disjoint_lives,
        lambda facts: any(sharing(facts)),
    ),
    ScheduleClause(
        "memory.C2",
        "A buffer that held data before the schedule, is reachable from outside while it runs or is read after it "
        "is neither planned nor an arena, and what is read after it has no bytes of an arena.",
        OURS,
        only_what_is_inside,
        both(_plans, _seen_from_outside),
    ),
    ScheduleClause(
        "memory.C3", "No buffer is planned on a device without sub-buffers.", OURS, where_there_are_parts, _plans
    ),
    ScheduleClause(
        "memory.C4",
        "Each planned buffer begins, counted in bytes from the beginning of the storage of its arena, at a "
        "multiple of the alignment of its device.",
        "opencl.buffers",
        aligned,
        lambda facts: any(facts.schedule.devices[each.device].alignment for each in _planned(facts)),
    ),
    ScheduleClause("memory.C5", "Each planned buffer ends within its arena.", OURS, in_the_arena, _plans),
    ScheduleClause(
        "memory.C6",
        "Every buffer that is a part of another begins, counted in bytes from the beginning of its storage, at a "
        "multiple of the size of an element of its dtype.",
        OURS,
        whole_elements,
        some_buffer(_is_part),
    ),
    ScheduleClause(
        "memory.C7",
        "An arena that is no lasting allocation has no more bytes than its planned buffers together, where the size of "
        "each is rounded up to a multiple of the alignment of its device.",
        OURS,
        no_larger_than_without,
        lambda facts: bool(_planned_anew(facts)),
        requirement="may",
    ),
    ScheduleClause("memory.C8", "Each planned buffer is on the device of its arena.", OURS, on_its_device, _plans),
    ScheduleClause(
        "memory.C9",
        "A buffer that belongs to a communicator shares bytes only with its own parts, with what it is a part of, and "
        "with buffers of the same communicator, kind, device, dtype and size.",
        "torch.inductor.comm_lowering: realize_as_comm_buffer",
        communication_apart,
        some_buffer(lambda each: bool(each.communication)),
        requirement="should",
    ),
    ScheduleClause(
        "memory.C11",
        "A planned buffer that a copy reads or writes is in one arena only with other planned buffers that copies "
        "read or write.",
        OURS,
        copies_apart,
        lambda facts: bool(_planned(facts)) and any(isinstance(leaf, Copy) for leaf in facts.leaves),
        requirement="may",
    ),
    ScheduleClause(
        "memory.C12",
        "A view in a schedule is a part of a buffer with storage of its own or of a planned buffer, not of "
        "another view.",
        "tinygrad.lazy: LazyBuffer",
        base_is_no_view,
        some_buffer(lambda each: _is_part(each) and not each.planned),
        requirement="may",
    ),
)

MEMORY_OF_TWO = (
    PairClause(
        "memory.C10",
        "A graph that is scheduled with a memory plan, and again without one, gives the values of the graph both "
        "times, and the second schedule has no planned buffer.",
        OURS,
        "unplanned",
        same_values,
        _both_run,
    ),
)
