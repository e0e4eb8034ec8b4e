"""Schedules in which every call of a sequence is written out on the buffers it was given."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.schedule import (
    Access,
    Binding,
    Call,
    Collective,
    Copy,
    Item,
    Kernel,
    Schedule,
    Sequence,
    View,
    Wait,
)


def inlined(schedule: Schedule) -> Schedule:
    """Return a schedule, whose calls fit, with the items of each call in its place, and no sequence."""
    if not schedule.sequences and not any(isinstance(item, Call) for item in schedule.items):
        return schedule
    items: list[Item] = []
    buffers = list(schedule.buffers)
    last = {item.id: _last(item, schedule) for item in schedule.items if isinstance(item, Call)}
    for item in schedule.items:
        if isinstance(item, Call):
            written = _Written(item, schedule.sequences[item.sequence])
            buffers += written.own()
            items += written.items(_after(item.after, last), _done(items))
        elif isinstance(item, Collective) and item.parts:
            parts = tuple(replace(part, after=_after(part.after, last)) for part in item.parts)
            items.append(replace(item, parts=parts))
        else:
            items.append(replace(item, after=_after(item.after, last)))
    return replace(schedule, items=tuple(items), buffers=tuple(buffers), sequences={})


def _last(item: Call, schedule: Schedule) -> tuple[str, ...]:
    """Return the names that the items of a call have in its place."""
    return tuple(f"{item.id}/{each.id}" for each in schedule.sequences[item.sequence].items)


def _after(after: tuple[str, ...] | None, last: dict[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return what an item is after, where it was after a call all items of that."""
    return None if after is None else tuple(name for each in after for name in last.get(each, (each,)))


def _done(items: list[Item]) -> tuple[str, ...]:
    """Return the items that are done when they are left: all but those that are only started."""
    return tuple(each.id for each in items if getattr(each, "handle", None) is None or isinstance(each, Wait))


@dataclass(frozen=True)
class _Written:
    """One call, written out."""

    call: Call
    sequence: Sequence

    def name(self, inner: str) -> str:
        """Return what a buffer of the sequence is called here."""
        names = [buffer.id for buffer in self.sequence.buffers[: self.sequence.parameters]]
        return self.call.buffers[names.index(inner)] if inner in names else f"{self.call.id}/{inner}"

    def own(self) -> list[Buffer]:
        """Return the buffers that are the call's own."""
        return [
            replace(each, id=self.name(each.id), base=None if each.base is None else self.name(each.base))
            for each in self.sequence.buffers[self.sequence.parameters :]
        ]

    def items(self, first: tuple[str, ...] | None, done: tuple[str, ...]) -> list[Item]:
        """Return the items, each after what the call is after, by default all that is ``done`` before it."""
        found: list[Item] = []
        for item in self.sequence.items:
            inner = item.after
            before = _done(found) if inner is None else tuple(f"{self.call.id}/{name}" for name in inner)
            after = None if first is None and inner is None else (*(done if first is None else first), *before)
            found.append(self._item(item, after))
        return found

    def _item(self, item: Kernel | Copy | View, after: tuple[str, ...] | None) -> Item:
        id = f"{self.call.id}/{item.id}"
        provenance = tuple(dict.fromkeys((*self.call.provenance, *item.provenance)))
        if isinstance(item, View):
            return replace(item, id=id, after=after, buffer=self.name(item.buffer))
        used: tuple[Access, ...] = tuple(replace(each, buffer=self.name(each.buffer)) for each in item.accesses)
        if isinstance(item, Copy):
            return replace(item, id=id, after=after, accesses=used, provenance=provenance)
        told = {each.name: each.value for each in (*item.variables, *self.call.variables)}
        own = tuple(Binding(each.name, told[each.name]) for each in item.variables)
        return replace(item, id=id, after=after, accesses=used, provenance=provenance, variables=own)
