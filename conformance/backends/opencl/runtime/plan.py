"""A schedule made ready: commands on numbered storages, to be launched again and again on different ones."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyopencl as cl

from conformance.backends.opencl.graph.node import Launch, Node
from conformance.backends.opencl.lower import Blocks, Lowered
from conformance.backends.opencl.render.fused import fused, numbers
from conformance.backends.opencl.render.kernels import alone
from conformance.backends.opencl.runtime.command import Ready, command, is_small
from conformance.backends.opencl.runtime.memory import Storage, Use
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.runtime.table import table
from conformance.backends.opencl.runtime.value import DeviceValue, Form, Forms
from conformance.backends.opencl.schedule.batch import Enqueued, batched
from conformance.backends.opencl.schedule.item import Fused, Item, Kernel
from conformance.backends.opencl.schedule.schedule import Schedule
from conformance.backends.opencl.settings import Settings

Result = tuple[Forms, tuple[int | None, ...]]
"""The forms of a result and the places of its storages."""


def enqueued(made: Schedule, session: Session, settings: Settings) -> Enqueued:
    """Return the items of a schedule as the devices of ``session`` are given them."""
    return batched(made.items, session.platform.place_of, settings)


def texts_of(items: Sequence[Item], session: Session, optimise_from: int) -> dict[str, bool]:
    """Return the texts of the kernels that are built for some items, each with whether it is to be optimised."""
    launches = (item.launch for item in items if isinstance(item, Fused))
    texts = {fused(each): math.prod(each.extents) >= optimise_from for each in launches}
    views = (item for item in items if isinstance(item, Kernel))
    return texts | {alone(item.body): False for item in views if is_small(item, session.kernels, optimise_from)}


class Launched(NamedTuple):
    """A plan under way: its storages by place, and the event of every one of its commands."""

    plan: Plan
    storages: list[Storage]
    events: list[cl.Event]

    @property
    def results(self) -> dict[str, DeviceValue]:
        """The results."""
        return values_of(self.plan.results, self.storages)

    @property
    def buffers(self) -> dict[str, DeviceValue]:
        """The whole storages of buffers."""
        return values_of(self.plan.buffers, self.storages)

    def wait(self) -> None:
        """Block until every command is done."""
        if self.events:
            self.plan.wait(self.events)
        for storage in self.storages:
            # What is forgotten here is in no wait list of the next launch, which costs more than to look once.
            if len(storage.cell.under_way) > 1:
                storage.cell.forget()


class Plan:
    """Commands in order, the storages they need, and which of them hold the results.

    ``of`` says for every item of the schedule which command does it.
    """

    def __init__(
        self,
        made: Schedule,
        lowered: Lowered,
        inputs: tuple[int, ...],
        session: Session,
        given_as: Enqueued,
        optimise_from: int = 0,
    ) -> None:
        """Make every item of a schedule ready on the devices of ``session``, which are ``given_as`` these.

        ``inputs`` numbers the storages that exist before, the first of the schedule.
        """
        self.schedule, self.lowered, self.inputs, self._session = made, lowered, inputs, session
        items, self.of = given_as
        content, begins = table(item for item in items if isinstance(item, Kernel))
        constant = session.memory.constant(content) if begins else None
        launches = [item.launch for item in items if isinstance(item, Fused)]
        firsts: dict[Launch, int] = {}
        given: list[int] = []
        for each in (one for one in launches if one.generic):
            firsts[each] = len(given)
            given += numbers(each) or (0,)
        arguments = session.memory.constant(np.array(given, np.int64)) if given else None
        for held in (each for each in (constant, arguments) if each is not None):
            weakref.finalize(self, session.memory.release, held)
        try:
            session.kernels.build(texts_of(items, session, optimise_from))
        except cl.RuntimeError as error:
            raise _unbuilt(launches, session, str(error)) from error
        ready = Ready(session.kernels, constant, begins, arguments, firsts, optimise_from)
        queue_of = session.platform.queue_of
        queues = [queue_of(item.device) for item in items]
        self.commands = tuple(
            command(item, queues[number], _across(item, queues, queues[number]), made.memory, ready)
            for number, item in enumerate(items)
        )
        self._sizes = made.sizes[len(inputs) : made.memory.pool]
        self._pool: list[Storage] | None = None
        self.last = self._uses(len(self.commands))
        self.results = {name: _result(blocks, made.places) for name, blocks in lowered.results.items()}
        self.buffers = {name: _result(blocks, made.places) for name, blocks in lowered.buffers.items()}

    def _uses(self, count: int) -> tuple[tuple[int, Use, int], ...]:
        """Return every use that the first ``count`` commands make of a place, with the last of them that makes it.

        Whoever has an arena next has other values in it, so all that a queue does there is one use of the whole.
        """
        memory = self.schedule.memory
        last: dict[tuple[int, Use], int] = {}
        for number, each in enumerate(self.commands[:count]):
            for place, start, stop, write in each.uses:
                own = (write, start, stop) if place < memory.arenas else (True, 0, memory.sizes[place])
                last[place, (each.queue, *own)] = number
        return tuple((place, use, number) for (place, use), number in last.items())

    def launch(self, given: Mapping[int, Storage]) -> Launched:
        """Enqueue every command, ordered by events, and return what is under way; nothing blocks.

        A command waits for those of this launch that its item names and for whatever is under way on the bytes it
        binds, of whichever launch. ``given`` has the storages that exist before, by number. Communication buffers are
        the plan's own, the same in every launch.
        """
        return self.launch_on(self.storages(given))

    def storages(self, given: Mapping[int, Storage]) -> list[Storage]:
        """Return the storages of a launch by place: those ``given``, fresh ones, and the plan's own."""
        memory = self._session.memory
        storages = [given[number] for number in self.inputs]
        storages += [memory.allocate(size) for size in self._sizes]
        if self._pool is None:
            # Whoever launches next has these again: what is still under way on them is waited for as on any storage.
            self._pool = [
                memory.allocate(size, lasting=True) for size in self.schedule.sizes[self.schedule.memory.pool :]
            ]
        return storages + self._pool

    def launch_on(self, storages: list[Storage]) -> Launched:
        """Launch as ``launch`` does, on these storages."""
        queues = self._session.platform.queues
        cells = [storage.cell for storage in storages]
        events: list[cl.Event] = []
        if self._session.platform.gates is not None:
            self._session.platform.gates.shut({each.queue for each in self.commands})
        # Looked at once for each queue: nothing that this launch enqueues is remembered before its end.
        busy = [frozenset(use[0] for use in cell.under_way) for cell in cells]
        try:
            for each in self.commands:
                waits = [events[number] for number in each.after]
                queue = each.queue
                for place, start, stop, write in each.uses:
                    if busy[place] and busy[place] != {queue}:
                        waits += cells[place].conflicts(queue, start, stop, write=write)
                events.append(each.enqueue(queues[queue], cells, waits or None))
        finally:
            for place, use, number in self.last if len(events) == len(self.commands) else self._uses(len(events)):
                cells[place].enqueued(use, events[number])
            self._session.platform.flush()
        return Launched(self, storages, events)

    def wait(self, events: Sequence[cl.Event]) -> None:
        """Block until commands are done."""
        self._session.platform.wait(events)


class BuildError(RuntimeError):
    """A kernel that the devices' compiler refuses, or cannot build."""


def _unbuilt(launches: Sequence[Launch], session: Session, said: str) -> BuildError:
    """Return the error that names the kernel that does not build alone, and the nodes that it computes."""
    for each in launches:
        try:
            session.kernels.build({fused(each): False})
        except cl.RuntimeError as error:
            nodes = ", ".join(map(repr, sorted(each.asked))) or "no node by itself"
            return BuildError(f"the kernel of {nodes} does not build: {error}")
    return BuildError(f"the kernels build one by one, and not together: {said}")


def _across(item: Item, queues: Sequence[int], queue: int) -> tuple[int, ...]:
    """Return the last item of every other queue that ``item`` waits for; an in-order queue needs no more."""
    last: dict[int, int] = {}
    for number in item.after:
        if queues[number] != queue:
            last[queues[number]] = max(number, last.get(queues[number], -1))
    return tuple(last.values())


def values_of(results: Mapping[str, Result], storages: Sequence[Storage]) -> dict[str, DeviceValue]:
    """Return the values of results that lie in ``storages``."""
    return {
        name: DeviceValue(forms, tuple(None if place is None else storages[place] for place in places))
        for name, (forms, places) in results.items()
    }


def _result(blocks: Blocks, places: Mapping[Node, int]) -> Result:
    forms = tuple(None if block is None else Form(block.node.dtype, block.node.size, block.view) for block in blocks)
    return forms, tuple(None if block is None else places.get(block.node) for block in blocks)
