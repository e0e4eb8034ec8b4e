"""Who reads and who writes in an opaque collective: what each operation of the specification says of its members."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cases.graph.buffer import Buffer
from conformance.cases.program.operation import Who
from conformance.cases.program.operations import TABLE, row
from conformance.cases.schedule.schedule import Collective
from conformance.cases.schedule_error import ScheduleError


def readers(item: Collective) -> tuple[int, ...]:
    """Return the positions of the participants that read; raise ``ScheduleError`` where the attributes name none."""
    return _positions(item, row(item.op).readers)


def writers(item: Collective) -> tuple[int, ...]:
    """Return the positions of the participants that write; raise ``ScheduleError`` where the attributes name none."""
    return _positions(item, row(item.op).writers)


def check_opaque(where: str, item: Collective, buffers: dict[str, Buffer]) -> None:
    """Raise ``ScheduleError`` unless those, and only those, read and write that the operation says.

    Of an operation that is none of the specification it is known only that its participants do.
    """
    if item.op not in TABLE:
        _check_unknown(where, item, buffers)
        return
    reading, writing = readers(item) * row(item.op).operands, writers(item)
    modes = [access.write for access in item.accesses]
    if modes != [False] * len(reading) + [True] * len(writing):
        raise ScheduleError(
            "form.C9",
            f"{where}: an opaque {item.op} has {_listed(item, reading, 'read')}, then {_listed(item, writing, 'write')}"
            f"; this one has {modes.count(False)} and {modes.count(True)}",
        )
    for number, (access, position) in enumerate(zip(item.accesses, (*reading, *writing), strict=True)):
        device, found = item.participants[position], buffers[access.buffer].device
        if device != found:
            raise ScheduleError(
                "form.C7", f"{where}, access {number}: participant {device} uses {access.buffer!r} on {found}"
            )


def _check_unknown(where: str, item: Collective, buffers: dict[str, Buffer]) -> None:
    modes = [access.write for access in item.accesses]
    if not modes or modes != sorted(modes):
        raise ScheduleError("form.C9", f"{where}: an opaque collective has its reads, then its writes")
    for number, access in enumerate(item.accesses):
        if buffers[access.buffer].device not in item.participants:
            raise ScheduleError(
                "form.C7",
                f"{where}, access {number}: {access.buffer!r} is on {buffers[access.buffer].device}, no participant",
            )


def _listed(item: Collective, positions: Sequence[int], what: str) -> str:
    return f"a {what} on {', '.join(item.participants[each] for each in positions)}" if positions else f"no {what}"


def _positions(item: Collective, who: Who) -> tuple[int, ...]:
    count = len(item.participants)
    if who == "all":
        return tuple(range(count))
    if who == "nobody":
        return ()
    if who == "root":
        return (_position(item, item.attrs.get("root"), "root"),)
    pairs = item.attrs.get("pairs")
    if not isinstance(pairs, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ScheduleError("form.C9", f"item {item.id!r} ({item.op}): it has no pairs of positions")
    found = {_position(item, pair[0], "source") for pair in pairs if isinstance(pair, tuple)}
    return tuple(sorted(found))


def _position(item: Collective, value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < len(item.participants):
        raise ScheduleError(
            "form.C9",
            f"item {item.id!r} ({item.op}): its {what} {value!r} is none of {len(item.participants)} positions",
        )
    return value
