"""What buffers and collectives say of communication: which words there are, and where each can be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.algorithms import ALGORITHMS
from conformance.cases.schedule.communication import KINDS
from conformance.cases.schedule.schedule import Collective, Schedule
from conformance.cases.schedule_error import ScheduleError

BETWEEN_SOME: Final = ("permute", "send", "recv")
"""Operations in which some members of a communicator may meet alone."""


def check_communication(schedule: Schedule) -> None:
    """Raise ``ScheduleError`` unless what is said of communication is of the vocabulary, and said where it can be."""
    calls: dict[str, Collective] = {}
    first: dict[str, Collective] = {}
    for item in schedule.items:
        if isinstance(item, Collective):
            _check_collective(item)
            _check_call(item, calls)
            _check_members(item, first)
    for buffer in schedule.buffers:
        _check_buffer(buffer, first.get(buffer.communication))


def _check_traced(where: str, number: int, item: Collective) -> None:
    """Raise ``ScheduleError`` unless an access that has strides of the traced program is one by a map of that rank."""
    access = item.accesses[number]
    if access.traced is None:
        return
    if access.map is None or len(access.map) != 1 or len(access.map[0].extents) != len(access.traced):
        raise ScheduleError(
            "form.C13", f"{where}, access {number}: {len(access.traced)} strides when traced, of no map of that rank"
        )


def _check_members(item: Collective, first: dict[str, Collective]) -> None:
    if not item.group or item.op in BETWEEN_SOME:
        return
    other = first.setdefault(item.group, item)
    if set(item.participants) != set(other.participants):
        raise ScheduleError(
            "form.C13",
            f"item {item.id!r}: communicator {item.group!r} has the members {_listed(item.participants)} here, and "
            f"{_listed(other.participants)} in {other.id!r}",
        )


def _check_buffer(buffer: Buffer, user: Collective | None) -> None:
    where = f"buffer {buffer.id!r}"
    if buffer.communication_kind not in KINDS:
        raise ScheduleError(
            "form.C13", f"{where}: unknown kind {buffer.communication_kind!r}; known are {_listed(KINDS)}"
        )
    if buffer.communication_kind and not buffer.communication:
        raise ScheduleError("form.C13", f"{where}: it is {buffer.communication_kind}, and belongs to no communicator")
    if user is not None and buffer.device not in user.participants:
        raise ScheduleError(
            "form.C13",
            f"{where}: it is on {buffer.device}, which is no member of its communicator {buffer.communication!r}: "
            f"{_listed(user.participants)}",
        )
    if buffer.allocation and buffer.base is not None:
        raise ScheduleError(
            "form.C13", f"{where}: it lies in {buffer.base!r}, and is no allocation {buffer.allocation!r} of its own"
        )


def _check_collective(item: Collective) -> None:
    where = f"item {item.id!r}"
    if item.algorithms and len(item.algorithms) != len(item.participants):
        raise ScheduleError(
            "form.C13", f"{where}: {len(item.algorithms)} algorithms for {len(item.participants)} participants"
        )
    for word in item.algorithms:
        if word not in ALGORITHMS:
            raise ScheduleError("form.C13", f"{where}: unknown algorithm {word!r}; known are {_listed(ALGORITHMS)}")
    if item.choice is not None and item.choice.threshold < 0:
        raise ScheduleError("form.C13", f"{where}: a threshold of {item.choice.threshold} bytes; it is 0 at least")
    for number in range(len(item.accesses)):
        _check_traced(where, number, item)


def _check_call(item: Collective, calls: dict[str, Collective]) -> None:
    first = calls.setdefault(item.call, item) if item.call else item
    own, other = ((each.op, each.group, each.participants, each.turns) for each in (item, first))
    if own != other:
        raise ScheduleError(
            "form.C13",
            f"item {item.id!r}: it is {own} and {first.id!r} {other}, which are no pieces of one call {item.call!r}",
        )


def _listed(words: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(word for word in words if word)
