"""Values on the devices and programs enqueued on them, ordered by events: nothing here waits until a value is read.

When commands run is up to the devices: Intel's and PoCL's ``pthread`` ones run them beside the host, and PoCL's
``basic`` ones when they are submitted, so that there a program is done when the call that starts it comes back.

Each call makes a graph, lowers it and schedules it, unless a program of the same structure on values of the same
form has been run before: then its plan is launched again, on other storages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from conformance.backends.opencl.dry_run import scheduled, view_of
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Buffer, Movement
from conformance.backends.opencl.graph.trace import Traced, trace
from conformance.backends.opencl.runtime.bound import Bound
from conformance.backends.opencl.runtime.memory import Storage
from conformance.backends.opencl.runtime.plan import Launched, Plan, enqueued
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.runtime.value import DeviceValue, Form
from conformance.backends.opencl.settings import Settings
from conformance.backends.opencl.settings import lanes as lanes_of
from conformance.cases.program.program import Program
from conformance.cases.tensor.dtypes import NUMPY, Array, logical

PLANS: Final = 256
"""Plans kept, the least recently launched dropped first."""

DATA_DEPENDENT: Final = frozenset({"ragged_all_to_all"})
"""Operations whose graph depends on what the values are, so that a plan serves once."""

Bytes = NDArray[np.uint8]

Order = tuple[int, ...]
Given = dict[int, Storage]
"""The storages that exist before a program, numbered in order of first mention."""


class Started:
    """A program under way. ``done`` hands its results on without blocking: their consumers wait on the devices.

    ``buffers`` are the storages of its named buffers, as values of one axis, with all that surrounds their elements.
    ``storages`` are all of its plan's, by place.
    """

    def __init__(self, launched: Launched, plan: Plan) -> None:
        """Hold what was launched."""
        self._launched, self.buffers, self.plan = launched, launched.buffers, plan
        self.storages = launched.storages

    def done(self) -> dict[str, DeviceValue]:
        """Return the results, as values that may be given to the next program, read or dropped at any time."""
        return self._launched.results

    def wait(self) -> dict[str, DeviceValue]:
        """Block until every command is done, and return the results."""
        self._launched.wait()
        return self._launched.results

    def timeline(self) -> list[tuple[int, int]]:
        """Return when each item of the plan's schedule began and ended, in ns; the session must profile."""
        self.wait()
        ran = [(event.profile.start, event.profile.end) for event in self._launched.events]
        return [ran[number] for number in self.plan.of]


class Engine:
    """Programs on the devices of one session, with one choice of algorithms."""

    def __init__(self, session: Session, settings: Settings) -> None:
        """Start with no plan."""
        cached = session.platform.cached * 3 // 4 if settings.cached is None else settings.cached
        arena = min(settings.arena, session.platform.largest)
        lanes = session.platform.lanes if settings.lanes is None else settings.lanes
        self.session, self.settings = session, replace(settings, cached=cached, arena=arena, lanes=lanes)
        self._plans: OrderedDict[Any, Plan] = OrderedDict()

    def put(self, blocks: Sequence[tuple[Array, Array]]) -> DeviceValue:
        """Return the value of ``blocks`` on its way to the devices: for each rank its storage and a view of it.

        The storages must stay as they are until something that depends on the value has been read.
        """
        forms, storages = [], []
        for rank, (storage, view) in enumerate(blocks):
            forms.append(Form(logical(storage.dtype), storage.size, view_of(storage, view)))
            storages.append(self.upload(rank, storage.view(np.uint8)) if storage.size else None)
        self.session.platform.flush()
        return DeviceValue(tuple(forms), tuple(storages))

    def start(self, program: Program, inputs: Mapping[str, DeviceValue]) -> Started:
        """Enqueue ``program`` on ``inputs`` and wait for nothing; raise a ``RejectionError`` for an illegal step."""
        order, given = _storages(inputs)
        plan = self._plan(program, inputs, order, given)
        return Started(plan.launch(given), plan)

    def bind(self, program: Program, inputs: Mapping[str, DeviceValue]) -> Bound:
        """Return ``program`` bound to ``inputs`` and to storages for its results, to be started again and again.

        Its values have bytes of their own where the caches hold all of them: whoever writes what others had waits for
        all queues that used it. Raise a ``RejectionError`` for an illegal step.
        """
        order, given = _storages(inputs)
        apart = self._made(program, inputs, given, replace(self.settings, reuse=False)) if self.settings.reuse else None
        if apart is None or sum(apart.schedule.sizes) > (self.settings.cached or 0):
            apart = self._plan(program, inputs, order, given)
        return Bound(apart, given, self.session.platform)

    def plan(self, program: Program, inputs: Mapping[str, DeviceValue]) -> Plan:
        """Return what ``start`` would launch; raise a ``RejectionError`` for an illegal step."""
        return self._plan(program, inputs, *_storages(inputs))

    def read(self, value: DeviceValue) -> list[Array | None]:
        """Return the blocks of a value as arrays, ``None`` where a rank has none; block until they are there."""
        content = [
            np.empty(0 if form is None else form.size * FORMATS[form.dtype].itemsize, np.uint8) for form in value.forms
        ]
        self.download(value, content)
        return [
            None if form is None else _viewed(form, found) for form, found in zip(value.forms, content, strict=True)
        ]

    def download(self, value: DeviceValue, content: Sequence[Bytes]) -> None:
        """Fill ``content`` with the bytes of each rank's storage, and block until they are there."""
        pairs = zip(value.storages, content, strict=True)
        self._fill((rank, storage, into) for rank, (storage, into) in enumerate(pairs) if storage is not None)

    def fetched(self, wanted: Sequence[tuple[int, Storage]]) -> list[Bytes]:
        """Return the bytes of storages, each of a rank; block once, until all are there."""
        found = [np.empty(storage.cell.size, np.uint8) for _, storage in wanted]
        self._fill((*each, into) for each, into in zip(wanted, found, strict=True))
        return found

    def _fill(self, wanted: Iterable[tuple[int, Storage, Bytes]]) -> None:
        events = []
        for rank, storage, into in wanted:
            cell, queue = storage.cell, self.session.platform.queue_of(rank)
            waits = cell.conflicts(queue, 0, cell.size, write=False)
            chosen = self.session.platform.queues[queue]
            # Nothing later needs to wait for it: it is waited for here.
            events.append(cl.enqueue_copy(chosen, into, cell.buffer, is_blocking=False, wait_for=waits or None))
        if events:
            self.session.platform.wait(events)

    def forget(self) -> None:
        """Drop every plan."""
        self._plans.clear()

    def upload(self, rank: int, content: Bytes) -> Storage:
        """Return storage of ``rank`` with these bytes on their way to it once its queue is flushed.

        They must stay as they are until they are there.
        """
        storage, queue = self.session.memory.allocate(content.nbytes), self.session.platform.queue_of(rank)
        cell, chosen = storage.cell, self.session.platform.queues[queue]
        waits = cell.conflicts(queue, 0, cell.size, write=True)
        # The event keeps the array alive.
        event = cl.enqueue_copy(chosen, cell.buffer, content, is_blocking=False, wait_for=waits or None)
        cell.enqueued((queue, True, 0, cell.size), event)
        if self.session.platform.gates is not None:
            self.session.platform.gates.keep(event)
        return storage

    def _plan(self, program: Program, inputs: Mapping[str, DeviceValue], order: Order, given: Given) -> Plan:
        """Return a plan for programs of this structure, on values of these forms that share storages alike."""
        if any(step.op in DATA_DEPENDENT for step in program.steps):
            return self._made(program, inputs, given)
        forms = tuple((name, value.forms) for name, value in inputs.items())
        key = msgspec.msgpack.encode(program), forms, order
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._made(program, inputs, given)
            if len(self._plans) > PLANS:
                self._plans.popitem(last=False)
        else:
            self._plans.move_to_end(key)
        return plan

    def _made(
        self, program: Program, inputs: Mapping[str, DeviceValue], given: Given, settings: Settings | None = None
    ) -> Plan:
        numbers: dict[int, int] = {id(storage): number for number, storage in given.items()}
        nodes: dict[int, Buffer] = {}

        def block(name: str, rank: int, form: Form | None, storage: Storage | None) -> Movement | None:
            if form is None:
                return None
            node = Buffer(rank, form.dtype, form.size, name)
            if storage is not None:
                node = nodes.setdefault(numbers[id(storage)], node)
            return Movement(node, form.view)

        def read(traced: Traced) -> list[Array]:
            plan = self._ready(traced, nodes)
            return [array for array in self.read(plan.launch(given).results[""]) if array is not None]

        sources = {
            name: tuple(block(name, rank, *pair) for rank, pair in enumerate(zip(*value, strict=True)))
            for name, value in inputs.items()
        }
        return self._ready(trace(program, sources, read, lanes_of(self.settings)), nodes, settings)

    def _ready(self, traced: Traced, nodes: Mapping[int, Buffer], settings: Settings | None = None) -> Plan:
        chosen = settings or self.settings
        made, lowered = scheduled(traced, chosen, self.session.platform.alignment)
        numbers = {node: number for number, node in nodes.items()}
        items = enqueued(made, self.session, chosen)
        return Plan(made, lowered, tuple(numbers[node] for node in made.inputs), self.session, items)


def _storages(inputs: Mapping[str, DeviceValue]) -> tuple[Order, Given]:
    """Return for each block, in order, the number of its storage, and the storages by number."""
    numbers: dict[int, int] = {}
    given: Given = {}
    order = []
    for value in inputs.values():
        for storage in value.storages:
            if storage is None:
                order.append(-1)
                continue
            number = numbers.setdefault(id(storage), len(numbers))
            given[number] = storage
            order.append(number)
    return tuple(order), given


def _viewed(form: Form, content: Bytes) -> Array:
    """Return the block that a view makes of the bytes of its storage."""
    array = content.view(NUMPY[form.dtype])
    shape, strides, offset = form.view.shape, form.view.strides, form.view.offset
    width = array.itemsize
    if not form.view.size:
        return np.empty(shape, array.dtype)
    # The buffer is bytes because the buffer protocol does not know the 8-bit floats.
    return np.ndarray(shape, array.dtype, content.data, offset * width, tuple(width * stride for stride in strides))
