"""Buffers of a communicator: what becomes one, who uses it, and where it lies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.communication import SYMMETRIC
from conformance.cases.schedule.schedule import Collective, Kernel, accesses
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import PairClause, ScheduleClause
from conformance.judging.schedules.facts.communication import (
    Location,
    allocated,
    belonging,
    chain,
    collectives,
    location,
    partly_allocated,
    shared,
)
from conformance.judging.schedules.facts.kernels import filled, movements
from conformance.judging.schedules.facts.subjects import some_buffer
from conformance.reference.byte_ranges import size
from conformance.reference.schedule.facts import Facts

REALIZE: Final = "torch.inductor.comm_lowering: realize_as_comm_buffer"
EVEN: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
"""Operations to which each participant brings the same: blocks of one shape, and results of one shape."""

NOTE: Final = "torch.inductor.comm_lowering: NOTE, lowering-time collective optimization"


def _belongs(buffer: Buffer) -> bool:
    return bool(buffer.communication)


def _lasting(facts: Facts) -> list[Buffer]:
    """Return the buffers of a communicator that lie in memory which lasts."""
    return [each for each in facts.schedule.buffers if each.communication and location(facts, each.id).allocation]


def empty_at_first(facts: Facts) -> str | None:
    """Find a buffer of a communicator that holds data before the schedule."""
    for buffer in filter(_belongs, facts.schedule.buffers):
        if facts.is_given(buffer.id) and not location(facts, buffer.id).allocation:
            return f"buffer {buffer.id!r} of communicator {buffer.communication!r} holds data before the schedule"
    return None


def known_size(facts: Facts) -> str | None:
    """Find a buffer of a communicator whose shape names a variable."""
    for buffer in filter(_belongs, facts.schedule.buffers):
        if any(not isinstance(extent, int) for extent in buffer.shape or ()):
            return f"buffer {buffer.id!r} of communicator {buffer.communication!r} has the shape {buffer.shape}"
    return None


def used_by_its_own(facts: Facts) -> str | None:
    """Find a collective that uses a buffer of another communicator."""
    for item in collectives(facts):
        for access in accesses(item):
            buffer = belonging(facts, access.buffer)
            if buffer is not None and buffer.communication != item.group:
                return (
                    f"item {item.id!r} of communicator {item.group!r} uses {access.buffer!r}, which belongs to "
                    f"{buffer.communication!r}"
                )
    return None


def _uses(facts: Facts) -> bool:
    used = (access.buffer for item in collectives(facts) for access in accesses(item))
    return any(belonging(facts, name) is not None for name in used)


def of_one_kind(facts: Facts) -> str | None:
    """Find a buffer of a communicator within one of another communicator, or of another kind."""
    for buffer in filter(_belongs, facts.schedule.buffers):
        for whole in chain(facts, buffer.id):
            own, other = ((each.communication, each.communication_kind) for each in (buffer, whole))
            if whole.communication and own != other:
                return f"buffer {buffer.id!r} is {_told(own)}, and lies in {whole.id!r}, which is {_told(other)}"
    return None


def _told(word: tuple[str, str]) -> str:
    return " ".join(each for each in (word[1], f"memory of {word[0]!r}") if each)


def _nested(facts: Facts) -> bool:
    return any(sum(_belongs(each) for each in chain(facts, one.id)) > 1 for one in facts.schedule.buffers)


def _moved_within(facts: Facts) -> Iterator[tuple[int, Buffer, Buffer, bool]]:
    """Yield the kernels that move a value from one buffer of a communicator to another, with both.

    Of a kernel without a body it is not known whether it does.
    """
    for number, leaf in enumerate(facts.leaves):
        if not isinstance(leaf, Kernel) or facts.owned[number][1] is not None:
            continue
        for read, write in movements(leaf):
            source, target = belonging(facts, read.buffer), belonging(facts, write.buffer)
            if source is None or target is None or source.id == target.id:
                continue
            taken = {size(facts.touch(each, facts.bound(leaf)).ranges) for each in (read, write)}
            # Otherwise it is another value: elements in another order, or some of them.
            if read.map == write.map and taken == {filled(facts, read.buffer)}:
                yield number, source, target, bool(leaf.bodies)


def made_one_once(facts: Facts) -> str | None:
    """Find a value that is moved from a buffer of a communicator to another one of its like, though both keep it."""
    told = True
    for number, source, target, known in _moved_within(facts):
        like = (source.communication, source.communication_kind) == (target.communication, target.communication_kind)
        written = {
            facts.home(access.buffer)
            for leaf in facts.leaves[number + 1 :]
            for access in accesses(leaf)
            if access.write
        }
        if like and not written & {facts.home(source.id), facts.home(target.id)}:
            if known:
                names = f"moves {source.id!r} to {target.id!r}, both memory of {target.communication!r}"
                return f"{facts.name(number)} {names}"
            told = False
    return None if told else SILENT


def in_correspondence(facts: Facts) -> str | None:
    """Find an allocation of one member that collectives pair with several of another.

    Say nothing where it is known of some of the buffers of a collective in which allocation they lie, and not of all.
    """
    pairs: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    for item in _even(facts):
        members = allocated(facts, item)
        for (one, mine), (other, theirs) in combinations(members.items(), 2):
            for here, there in zip(mine, theirs, strict=False):
                for end, far in (((one, other, here.allocation), there), ((other, one, there.allocation), here)):
                    known = pairs.setdefault((item.group, *end), (far.allocation, item.id))
                    if known[0] != far.allocation:
                        return (
                            f"item {item.id!r} works on allocation {end[2]!r} of {end[0]} and {far.allocation!r} of "
                            f"{end[1]}; {known[1]!r} works on the first and {known[0]!r} there"
                        )
    return SILENT if any(partly_allocated(facts, item) for item in _even(facts)) else None


def _even(facts: Facts) -> tuple[Collective, ...]:
    """Return the collectives to which each participant brings the same."""
    return tuple(item for item in collectives(facts) if item.op in EVEN)


def _meets_on_lasting(facts: Facts) -> bool:
    return any(len(allocated(facts, item)) > 1 for item in _even(facts))


def as_many_on_all(facts: Facts) -> str | None:
    """Find a collective to which members bring buffers of their communicator in different numbers or sizes."""
    for item in _even(facts):
        sizes = [tuple(facts.buffers[name].size for name in names) for names in shared(facts, item)]
        brought = [each for each in zip(item.participants, sizes, strict=True) if each[1] or not item.parts]
        for device, mine in brought:
            if mine != brought[0][1]:
                return (
                    f"item {item.id!r}: {device} brings memory of {item.group!r} of {list(mine)} bytes, and "
                    f"{brought[0][0]} of {list(brought[0][1])}"
                )
    return None


def same_offsets(facts: Facts) -> str | None:
    """Find symmetric buffers that a collective works on at different offsets on two members.

    Say nothing of such a one beside a buffer of which it is not known of which kind it is.
    """
    told = True
    for item in _even(facts):
        rows = zip(*shared(facts, item), strict=False)
        for row in rows:
            places = [location(facts, name) for name in row]
            kinds = {_kind(facts, name) for name in row}
            apart = len({place.offset for place in places}) > 1
            told &= not (apart and kinds == {SYMMETRIC, ""})
            for device, name, place in zip(item.participants, row, places, strict=True):
                if kinds == {SYMMETRIC} and place.offset != places[0].offset:
                    return (
                        f"item {item.id!r} works on {name!r} at byte {place.offset} on {device}, and at byte "
                        f"{places[0].offset} on {item.participants[0]}"
                    )
    return None if told else SILENT


def _kind(facts: Facts, name: str) -> str:
    buffer = belonging(facts, name)
    return "" if buffer is None else buffer.communication_kind


def _symmetric(facts: Facts) -> bool:
    return any(
        len(item.participants) > 1
        and any(_kind(facts, name) == SYMMETRIC for row in shared(facts, item) for name in row)
        for item in _even(facts)
    )


def not_kept(facts: Facts) -> str | None:
    """Find a buffer that lasts for the next iteration to write, and that is read after this one."""
    placed = {facts.home(place.buffer): place.node for place in facts.schedule.places}
    for buffer in _lasting(facts):
        if facts.is_given(buffer.id):
            continue
        name = facts.home(buffer.id)
        shown = [*chain(facts, buffer.id), *(e for e in facts.schedule.buffers if buffer in chain(facts, e.id))]
        kept = next((flag for flag in ("held", "output") if any(getattr(each, flag) for each in shown)), "")
        if kept or name in placed:
            what = f"it is {kept}" if kept else f"the result {placed[name]!r} is in it"
            return f"buffer {buffer.id!r} lasts in {location(facts, buffer.id).allocation!r}, and {what}"
    return None


def same_places(first: Facts, second: Facts) -> str | None:
    """Find a collective that works on other bytes in another iteration.

    Say nothing beside one of which it is not known in which allocations its buffers lie.
    """
    told = True
    ours, theirs = collectives(first), collectives(second)
    if len(ours) != len(theirs):
        return f"{len(ours)} collectives in the first iteration, and {len(theirs)} in a later one"
    for one, other in zip(ours, theirs, strict=True):
        rows = zip(one.participants, shared(first, one), shared(second, other), strict=False)
        for device, mine, again in rows:
            before = [location(first, name) for name in mine]
            after = [location(second, name) for name in again]
            if before != after:
                return f"item {one.id!r} works on {_listed(before)} on {device}, and later on {_listed(after)}"
            told &= all(each.allocation for each in before)
    return None if told else SILENT


def _listed(places: list[Location]) -> str:
    return ", ".join(f"{each.size} bytes at {each.offset} of {each.allocation!r}" for each in places) or "none"


def _either_uses(first: Facts, second: Facts) -> bool:
    return _uses(first) or _uses(second)


def allocations_apart(first: Facts, second: Facts) -> str | None:
    """Find an allocation that schedules of two programs name."""
    ours, theirs = (
        {(each.device, each.allocation): each for each in one.schedule.buffers if each.allocation}
        for one in (first, second)
    )
    for device, name in sorted(ours.keys() & theirs.keys()):
        one, other = ours[device, name], theirs[device, name]
        if one.size != other.size or _overlap(first, one, second, other):
            return (
                f"allocation {name!r} of {device} is memory of two programs of one process, of {one.size} bytes in one "
                f"and {other.size} in the other"
            )
    return None


def _overlap(first: Facts, one: Buffer, second: Facts, other: Buffer) -> bool:
    """Return whether buffers of communicators in two storages of one name have bytes in common."""
    return any(
        mine.offset < theirs.offset + theirs.size and theirs.offset < mine.offset + mine.size
        for mine in _within(first, one)
        for theirs in _within(second, other)
    )


def _within(facts: Facts, storage: Buffer) -> list[Location]:
    return [
        location(facts, e.id) for e in facts.schedule.buffers if e.communication and facts.root(e.id)[0] == storage.id
    ]


def _both_last(first: Facts, second: Facts) -> bool:
    return all(any(each.allocation for each in one.schedule.buffers) for one in (first, second))


COMMUNICATION = (
    ScheduleClause(
        "communication.C1",
        "No buffer that belongs to a communicator holds data before the schedule, unless it lies in a lasting "
        "allocation: what is given elsewhere is copied to one.",
        "torch.inductor.comm_lowering: can_realize_as_comm_buffer",
        empty_at_first,
        some_buffer(_belongs),
    ),
    ScheduleClause(
        "communication.C2",
        "The shape of a buffer that belongs to a communicator, where it is known, has numbers only.",
        REALIZE,
        known_size,
        some_buffer(lambda each: _belongs(each) and each.shape is not None),
    ),
    ScheduleClause(
        "communication.C3",
        "A collective uses no buffer, and no part of one, that belongs to another communicator.",
        REALIZE,
        used_by_its_own,
        _uses,
    ),
    ScheduleClause(
        "communication.C4",
        "A buffer that belongs to a communicator, and lies in one that does, is of the same communicator and kind.",
        REALIZE,
        of_one_kind,
        _nested,
    ),
    ScheduleClause(
        "communication.C5",
        "No kernel only moves the elements of a buffer of a communicator, as they lie, to another one of the same "
        "communicator and kind, unless a later item writes one of the two.",
        REALIZE,
        made_one_once,
        _uses,
        requirement="should",
    ),
    ScheduleClause(
        "communication.C6",
        "Every all_reduce, all_gather, reduce_scatter and all_to_all of a communicator that works on one lasting "
        "allocation of a member works, with the buffers in its place, on one and the same allocation of each other "
        "member.",
        NOTE,
        in_correspondence,
        _meets_on_lasting,
    ),
    ScheduleClause(
        "communication.C7",
        "To an all_reduce, all_gather, reduce_scatter or all_to_all its participants bring buffers of the communicator "
        "that are equal in number and in sizes. To one done in parts a participant brings those or, in their place, a "
        "copy that was made before.",
        NOTE,
        as_many_on_all,
        lambda facts: any(any(shared(facts, item)) for item in _even(facts)),
    ),
    ScheduleClause(
        "communication.C8",
        "Symmetric buffers that participants bring to an all_reduce, all_gather, reduce_scatter or all_to_all lie at "
        "one offset in their storages.",
        NOTE,
        same_offsets,
        _symmetric,
    ),
    ScheduleClause(
        "communication.C9",
        "A buffer of a communicator in a lasting allocation, unless it held data before the schedule, holds no result "
        "and is not reachable from outside: the next iteration writes it.",
        "ours",
        not_kept,
        lambda facts: any(not facts.is_given(each.id) for each in _lasting(facts)),
    ),
)

COMMUNICATION_OF_TWO = (
    PairClause(
        "communication.C10",
        "In a later iteration of what was compiled once, each collective works on the same bytes of the same "
        "allocations.",
        NOTE,
        "rerun",
        same_places,
        _either_uses,
    ),
    PairClause(
        "communication.C11",
        "Two programs that are compiled in one process have no buffers of communicators in the same bytes of a lasting "
        "allocation, and an allocation that both name is of one size.",
        "ours",
        "neighbours",
        allocations_apart,
        _both_last,
        requirement="should",
    ),
)
