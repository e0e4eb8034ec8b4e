"""Which schedules are well formed: what must hold before one can be judged at all.

Each reason is a clause (``form.C1`` to ``form.C13``), and the error names the item.
"""

from __future__ import annotations

import math
from typing import Final

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import Values, names_in, sizes
from conformance.cases.graph.form import check_graph
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.algorithms import ALGORITHMS
from conformance.cases.schedule.body_form import check_bodies, check_map
from conformance.cases.schedule.calls import check_calls
from conformance.cases.schedule.communication_form import check_communication
from conformance.cases.schedule.inlining import inlined
from conformance.cases.schedule.kernel_body import by_index
from conformance.cases.schedule.opaque_form import check_opaque
from conformance.cases.schedule.runs import runs
from conformance.cases.schedule.schedule import (
    Access,
    Call,
    Collective,
    Copy,
    Item,
    Kernel,
    Schedule,
    View,
    Wait,
    accesses,
    bound_values,
    declarations,
)
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY

MOST_BYTES: Final = 1 << 44
"""Bytes of one buffer, or to it: more than any machine has, and so little that sums of them are exact everywhere."""


def validate_schedule(schedule: Schedule) -> None:
    """Raise ``ScheduleError`` unless the schedule is well formed."""
    if schedule.sequences or any(isinstance(item, Call) for item in schedule.items):
        check_calls(schedule)
        schedule = inlined(schedule)
    for name, bounds in schedule.variables.items():
        if not 0 <= bounds.low <= bounds.high < MOST_BYTES:
            raise ScheduleError("form.C8", f"variable {name!r}: {bounds.low} to {bounds.high} is no range of sizes")
    for name, device in schedule.devices.items():
        if not 0 <= device.alignment < MOST_BYTES or device.most_buffers < 0:
            raise ScheduleError(
                "form.C8", f"device {name!r}: {device.alignment} is no alignment, or {device.most_buffers} no number"
            )
    most = _greatest(schedule)
    buffers = _buffers(schedule)
    known: dict[str, Item] = {}
    later = _ids(schedule)
    for item in schedule.items:
        _check_order(item, known, later)
        _check_item(item, schedule, buffers, most)
        if isinstance(item, Collective):
            for part in item.parts:
                _check_order(part, known, later)
                _check_item(part, schedule, buffers, most, item)
                known[part.id] = part
        known[item.id] = item
    _check_waits(schedule)
    check_communication(schedule)
    if schedule.graph is not None:
        check_graph(schedule.graph, declarations(schedule), most)
    _check_references(schedule, buffers, most)


def _buffers(schedule: Schedule) -> dict[str, Buffer]:
    buffers: dict[str, Buffer] = {}
    for buffer in schedule.buffers:
        where = f"buffer {buffer.id!r}"
        if buffer.id in buffers:
            raise ScheduleError("form.C1", f"{where}: two buffers have this id")
        if buffer.device not in schedule.devices:
            raise ScheduleError("form.C3", f"{where}: device {buffer.device!r} is not declared")
        if buffer.dtype not in NUMPY:
            raise ScheduleError("form.C3", f"{where}: unknown dtype {buffer.dtype!r}")
        fits = all(0 <= count < MOST_BYTES for count in (buffer.size, buffer.offset))
        if buffer.local and (buffer.base is not None or buffer.preexisting or buffer.held or buffer.output):
            raise ScheduleError("form.C8", f"{where}: local memory is of one kernel, and seen by nobody else")
        if not 0 <= buffer.space < MOST_BYTES:
            raise ScheduleError("form.C8", f"{where}: {buffer.space} is no number of a memory")
        if not fits or buffer.size % NUMPY[buffer.dtype].itemsize:
            raise ScheduleError("form.C8", f"{where}: {buffer.size} bytes at {buffer.offset} are no {buffer.dtype}")
        for name in sorted({name for dim in buffer.shape or () for name in names_in(dim)}):
            if name not in schedule.variables:
                raise ScheduleError("form.C3", f"{where}: variable {name!r} is not declared")
        known = [dim for dim in buffer.shape or () if isinstance(dim, int)]
        fixed = buffer.shape is not None and len(known) == len(buffer.shape)
        if min(known, default=0) < 0 or (fixed and math.prod(known) * NUMPY[buffer.dtype].itemsize > buffer.size):
            raise ScheduleError(
                "form.C8", f"{where}: {buffer.size} bytes are no {buffer.dtype} {list(buffer.shape or ())}"
            )
        buffers[buffer.id] = buffer
    for buffer in schedule.buffers:
        _check_base(buffer, buffers)
        if buffer.base is not None and buffers[buffer.base].local:
            raise ScheduleError("form.C8", f"buffer {buffer.id!r}: its base {buffer.base!r} is local memory")
    return buffers


def _check_base(buffer: Buffer, buffers: dict[str, Buffer]) -> None:
    where, at, seen = f"buffer {buffer.id!r}", buffer, {buffer.id}
    if buffer.base is None and (buffer.offset or buffer.planned):
        raise ScheduleError("form.C8", f"{where}: it has no base, and so neither an offset nor a place in a plan")
    while at.base is not None:
        if at.base not in buffers:
            raise ScheduleError("form.C2", f"{where}: its base {at.base!r} is not declared")
        at = buffers[at.base]
        if at.id in seen:
            raise ScheduleError("form.C6", f"{where}: it is a part of itself, a cycle")
        seen.add(at.id)
    if buffer.base is not None and buffer.space != buffers[buffer.base].space:
        raise ScheduleError(
            "form.C8",
            f"{where}: memory {buffer.space} is none of {buffer.base!r}, in memory {buffers[buffer.base].space}",
        )
    if buffer.base is not None and not buffer.planned:
        base = buffers[buffer.base]
        if buffer.offset + buffer.size > base.size or buffer.device != base.device:
            raise ScheduleError(
                "form.C8",
                f"{where}: bytes {buffer.offset} to {buffer.offset + buffer.size} on {buffer.device} are no part of "
                f"the {base.size} bytes of {base.id!r} on {base.device}",
            )


def _greatest(schedule: Schedule) -> Values:
    """Return the greatest value of each variable: of those it may have, and of those it is bound to."""
    found = {name: bounds.high for name, bounds in schedule.variables.items()}
    for item in schedule.items:
        for each in item.parts if isinstance(item, Collective) else (item,):
            for binding in each.variables if isinstance(each, Kernel) else ():
                if not 0 <= binding.value < MOST_BYTES:
                    raise ScheduleError("form.C8", f"item {each.id!r}: {binding.value} is no size for {binding.name!r}")
                found[binding.name] = max(found.get(binding.name, 0), binding.value)
    return found


def _ids(schedule: Schedule) -> dict[str, tuple[str, ...] | None]:
    """Return what every item is ``after``, parts included."""
    found: dict[str, tuple[str, ...] | None] = {}
    for item in schedule.items:
        for each in (item, *(item.parts if isinstance(item, Collective) else ())):
            if each.id in found:
                raise ScheduleError("form.C1", f"item {each.id!r}: two items have this id")
            found[each.id] = each.after
    return found


def _check_order(item: Item, known: dict[str, Item], later: dict[str, tuple[str, ...] | None]) -> None:
    for name in item.after or ():
        if name not in later:
            raise ScheduleError("form.C3", f"item {item.id!r}: it is after {name!r}, which is no item")
        if name not in known:
            seen, stack = set(), [name]
            while stack:
                at = stack.pop()
                if at not in seen:
                    seen.add(at)
                    stack.extend(later.get(at) or ())
            what = "and that after it, a cycle" if item.id in seen else "which is listed later"
            raise ScheduleError("form.C6", f"item {item.id!r}: it is after {name!r}, {what}")


def _check_item(
    item: Item, schedule: Schedule, buffers: dict[str, Buffer], most: Values, owner: Collective | None = None
) -> None:
    where = f"item {item.id!r}"
    for number, access in enumerate(accesses(item)):
        by_data = isinstance(item, Kernel) and number in by_index(item.bodies)
        _check_access(f"{where}, access {number}", access, buffers, most, by_data=by_data)
    if isinstance(item, Kernel):
        _check_kernel(where, item, schedule, buffers, owner)
    elif isinstance(item, Collective):
        _check_collective(where, item, schedule, buffers)
    elif isinstance(item, View):
        if item.buffer not in buffers:
            raise ScheduleError("form.C2", f"{where}: buffer {item.buffer!r} is not declared")
        if buffers[item.buffer].base is None:
            raise ScheduleError("form.C8", f"{where}: buffer {item.buffer!r} has no base to be a view of")
    if owner is not None and isinstance(item, Kernel | Copy) and item.handle is not None:
        raise ScheduleError("form.C9", f"{where}: a part of {owner.id!r} is started with the whole, by no own handle")


def _check_access(where: str, access: Access, buffers: dict[str, Buffer], most: Values, *, by_data: bool) -> None:
    if access.buffer not in buffers:
        raise ScheduleError("form.C2", f"{where}: buffer {access.buffer!r} is not declared")
    buffer = buffers[access.buffer]
    if access.parts < 0 or (access.parts and access.node is None):
        raise ScheduleError("form.C8", f"{where}: {access.parts} parts, of no node")
    if access.map is not None and access.ranges is not None:
        raise ScheduleError("form.C8", f"{where}: it has both a map and byte ranges; one says it all")
    if access.map is not None:
        check_map(where, access.map, most, by_data=by_data)
    for start, stop in access.ranges or ():
        if not 0 <= start <= stop <= buffer.size:
            raise ScheduleError(
                "form.C8", f"{where}: bytes {start} to {stop} are not in the {buffer.size} of {buffer.id!r}"
            )


def _check_kernel(
    where: str, item: Kernel, schedule: Schedule, buffers: dict[str, Buffer], owner: Collective | None
) -> None:
    if item.device not in schedule.devices:
        raise ScheduleError("form.C3", f"{where}: device {item.device!r} is not declared")
    mine = owner.participants if owner is not None else (item.device,)
    for access in item.accesses:
        found = buffers[access.buffer].device
        if found not in mine:
            raise ScheduleError(
                "form.C7",
                f"{where}: a kernel on {item.device} uses {access.buffer!r} on {found}; all buffers must be on "
                f"{'devices of its collective' if owner else 'one device'}",
            )
    for binding in item.variables:
        if binding.name not in schedule.variables:
            raise ScheduleError("form.C3", f"{where}: variable {binding.name!r} is not declared")
    check_bodies(where, item, buffers)


def _check_collective(where: str, item: Collective, schedule: Schedule, buffers: dict[str, Buffer]) -> None:
    for device in item.participants:
        if device not in schedule.devices:
            raise ScheduleError("form.C3", f"{where}: device {device!r} is not declared")
    if len(set(item.participants)) != len(item.participants) or not item.participants:
        raise ScheduleError("form.C9", f"{where}: participants must be one or more distinct devices")
    if item.algorithm not in ALGORITHMS:
        known = ", ".join(word for word in ALGORITHMS if word)
        raise ScheduleError("form.C3", f"{where}: unknown algorithm {item.algorithm!r}; known are {known}")
    if item.parts and item.accesses:
        raise ScheduleError("form.C9", f"{where}: a collective has either parts or accesses of its own")
    if item.parts and item.after is not None:
        raise ScheduleError("form.C9", f"{where}: what a collective with parts is after, its parts say")
    if item.turns is not None and len(item.turns) != len(item.participants):
        raise ScheduleError("form.C9", f"{where}: {len(item.turns)} turns for {len(item.participants)} participants")
    if not item.parts:
        check_opaque(where, item, buffers)


def _check_waits(schedule: Schedule) -> None:
    started: set[str] = set()
    for item in schedule.items:
        if isinstance(item, Wait):
            if item.handle not in started:
                raise ScheduleError(
                    "form.C4", f"item {item.id!r}: it waits for {item.handle!r}, never started before it"
                )
        elif isinstance(item, Kernel | Copy | Collective) and item.handle is not None:
            if item.handle in started:
                raise ScheduleError("form.C1", f"item {item.id!r}: handle {item.handle!r} was started before")
            started.add(item.handle)


def _check_references(schedule: Schedule, buffers: dict[str, Buffer], most: Values) -> None:
    """Check what items and places say of the graph."""
    nodes = {node.id: node for node in schedule.graph.nodes} if schedule.graph else {}
    _check_labels(schedule, {name: node.op for name, node in nodes.items()})
    _check_places(schedule, nodes, buffers, most)


def _check_labels(schedule: Schedule, nodes: dict[str, str]) -> None:
    """Check what items say that they compute, read and write."""
    for item in schedule.items:
        for each in (item, *(item.parts if isinstance(item, Collective) else ())):
            stored = [access.node for access in accesses(each) if access.node is not None]
            for name in (*each.provenance, *stored):
                if name not in nodes:
                    raise ScheduleError("form.C3", f"item {each.id!r}: {name!r} is no node of the graph")
            for access in accesses(each):
                if access.parts and nodes[str(access.node)] != "reduce":
                    raise ScheduleError("form.C8", f"item {each.id!r}: {access.node!r} is no reduce, and has no parts")


def _check_places(schedule: Schedule, nodes: dict[str, Node], buffers: dict[str, Buffer], most: Values) -> None:
    placed: set[str] = set()
    values = bound_values(schedule)
    for place in schedule.places:
        if place.node in placed:
            raise ScheduleError("form.C1", f"place of {place.node!r}: two places have this node")
        placed.add(place.node)
        if place.node not in nodes:
            raise ScheduleError("form.C3", f"place of {place.node!r}: it is no node of the graph")
        if place.buffer not in buffers:
            raise ScheduleError("form.C2", f"place of {place.node!r}: buffer {place.buffer!r} is not declared")
        if buffers[place.buffer].local:
            raise ScheduleError("form.C8", f"place of {place.node!r}: {place.buffer!r} is local memory")
        buffer, first, last = buffers[place.buffer], 0, math.prod(sizes(nodes[place.node].shape, values))
        if place.map is not None:
            check_map(f"place of {place.node!r}", place.map, most)
            touched = runs(place.map, most)
            first, last = (touched[0, 0], touched[-1, 1]) if len(touched) else (0, 0)
        if not 0 <= first <= last <= buffer.size // NUMPY[buffer.dtype].itemsize:
            raise ScheduleError(
                "form.C8", f"place of {place.node!r}: elements {first} to {last} are not in {buffer.id!r}"
            )
