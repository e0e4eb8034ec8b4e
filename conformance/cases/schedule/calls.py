"""Captured sequences of items, and which calls of them are well formed."""

from __future__ import annotations

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.schedule import (
    Call,
    Schedule,
    Sequence,
    View,
)
from conformance.cases.schedule_error import ScheduleError


def check_calls(schedule: Schedule) -> None:
    """Raise ``ScheduleError`` unless every call fits its sequence, and every sequence keeps to its own buffers."""
    for name, sequence in schedule.sequences.items():
        _check_sequence(name, sequence)
    buffers = {buffer.id: buffer for buffer in schedule.buffers}
    for item in schedule.items:
        if isinstance(item, Call):
            _check_call(item, schedule, buffers)


def _check_sequence(name: str, sequence: Sequence) -> None:
    where, own = f"sequence {name!r}", {buffer.id for buffer in sequence.buffers}
    if not 0 <= sequence.parameters <= len(sequence.buffers):
        raise ScheduleError("form.C12", f"{where}: {sequence.parameters} parameters of {len(sequence.buffers)} buffers")
    for item in sequence.items:
        for used in (item.buffer,) if isinstance(item, View) else (access.buffer for access in item.accesses):
            if used not in own:
                raise ScheduleError("form.C12", f"{where}, item {item.id!r}: {used!r} is neither given nor its own")


def _check_call(item: Call, schedule: Schedule, buffers: dict[str, Buffer]) -> None:
    where = f"item {item.id!r}"
    sequence = schedule.sequences.get(item.sequence)
    if sequence is None:
        raise ScheduleError("form.C3", f"{where}: it calls {item.sequence!r}, and there is no such sequence")
    wanted = sequence.buffers[: sequence.parameters]
    if len(item.buffers) != len(wanted):
        raise ScheduleError("form.C12", f"{where}: {len(item.buffers)} buffers for {len(wanted)} parameters")
    for number, (name, parameter) in enumerate(zip(item.buffers, wanted, strict=True)):
        given = buffers.get(name)
        if given is None:
            raise ScheduleError("form.C2", f"{where}: buffer {name!r} is not declared")
        if (given.dtype, given.device) != (parameter.dtype, parameter.device) or given.size < parameter.size:
            raise ScheduleError(
                "form.C12",
                f"{where}: buffer {name!r}, {given.size} bytes of {given.dtype} on {given.device}, is given for "
                f"parameter {number}, {parameter.size} bytes of {parameter.dtype} on {parameter.device}",
            )
