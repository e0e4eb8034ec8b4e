"""Graphs on the devices, round by round: buffers stay, and so do values that a later round needs."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
import numpy as np

from conformance.backends.opencl.dry_run import dry_rounds
from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.held import Held
from conformance.backends.opencl.runtime.memory import Storage
from conformance.backends.opencl.runtime.plan import enqueued, texts_of
from conformance.backends.opencl.runtime.prepared import Prepared, Scheduled, made_ready
from conformance.backends.opencl.runtime.worth import worths
from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.tensor import Tensor, from_array, to_array

PREPARED: Final = 1024
"""Graphs whose plans are kept, the least recently run dropped first.

They are more than the default run has of a suite: of cases that come again in the same order all would be dropped.
"""


GATHERING: Final = 1.0
"""Seconds after which no further graph is gathered to be built with others: a worker is waited for 20 s."""

KNOWN: Final = 2
"""Graphs made ready before, after which none of those that come with them is gathered: they come again in a row."""


class NotRun(Exception):
    """A graph was gathered instead of run."""


class Graphs:
    """The graphs that an engine has made ready."""

    def __init__(self, engine: Engine) -> None:
        """Start with none."""
        self._engine = engine
        self._made: OrderedDict[Any, Prepared] = OrderedDict()
        self._gathered: dict[Any, tuple[Scheduled, ...]] = {}
        self._gathering = False
        self._known = 0

    def gather(self, calls: Iterable[Callable[[], object]]) -> None:
        """Begin to build the kernels of all graphs that some calls run, and run none: each call raises ``NotRun``.

        They are one program: it costs as much as ten small kernels in it. What takes longer than ``GATHERING`` is left.
        """
        session, settings = self._engine.session, self._engine.settings
        until, texts = time.monotonic() + GATHERING, dict[str, bool]()
        self._gathering, self._known = True, 0
        try:
            for call in calls:
                with suppress(Exception):  # it is raised again by the call that is to run
                    call()
                again = self._known >= KNOWN and not self._gathered
                if again or time.monotonic() > until:
                    break
        finally:
            self._gathering = False
        for each in (one for rounds in self._gathered.values() for one in rounds):
            texts |= texts_of(each.enqueued.items, session, settings.optimise_from)
        session.kernels.build_aside(texts)

    def run(self, case: GraphCase) -> dict[str, Tensor]:
        """Return all results of a graph case by key; raise as ``arrays`` does."""
        return {key: from_array(each) for key, each in self.arrays(case).items()}

    def arrays(self, case: GraphCase, *, checked: bool = True) -> dict[str, Array]:
        """Return all results of a graph case by key. What is not ``checked`` is taken for well formed.

        Raise, before anything runs, ``CaseError`` for a malformed graph, ``Refused`` for one without a meaning,
        ``TooLargeError`` for one that the devices cannot hold and ``BuildError`` for a kernel that does not build.
        """
        prepared = self.prepared(case, checked=checked)
        self._check_running()
        return _Run(case, prepared, self._engine).results()

    def held(self, case: GraphCase, content: Mapping[str, Array]) -> Held:
        """Return a graph of one round, its buffers uploaded, that can be launched again and again.

        Its values may be larger than the dialect allows those of a case to be, so it is taken for well formed.
        """
        return Held(self.prepared(case, checked=False), content, self._engine)

    def again(self, prepared: Prepared, content: Mapping[str, Array]) -> dict[str, Array]:
        """Return by node what a graph of one round, made ready before, gives of other buffers of the same forms."""
        self._check_running()
        return Held(prepared, content, self._engine).launch().results()

    def _check_running(self) -> None:
        """Raise ``NotRun`` where graphs are only gathered, of which this one was made ready before."""
        if self._gathering:
            self._known += 1
            raise NotRun

    def prepared(self, case: GraphCase, *, checked: bool = True, together: bool = False) -> Prepared:
        """Return what a graph of this structure is made ready as.

        What goes in and comes out ``together`` lies in one storage of each device: no later round has any of it.
        """
        rounds = [(each.until, tuple(each.writes), each.values, each.asked, each.read) for each in case.rounds]
        forms = {name: (each.dtype, each.shape) for name, each in case.buffers.items()}
        key = msgspec.msgpack.encode((case.graph, rounds, forms, together))
        found = self._made.get(key)
        if found is None:
            scheduled = self._gathered.pop(key, None) or self._scheduled(case, checked=checked)
            if self._gathering:
                self._gathered[key] = scheduled
                raise NotRun
            found = self._made[key] = made_ready(scheduled, self._engine, together=together)
            if len(self._made) > PREPARED:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return found

    def _scheduled(self, case: GraphCase, *, checked: bool) -> tuple[Scheduled, ...]:
        session, settings = self._engine.session, self._engine.settings
        dry = dry_rounds(case, settings, session.platform.alignment, checked=checked)
        return tuple(Scheduled(each, enqueued(each.schedule, session, settings)) for each in dry)


class _Run:
    """One case under way: the storages that its rounds leave to each other, by name."""

    def __init__(self, case: GraphCase, prepared: Prepared, engine: Engine) -> None:
        self._case, self._prepared, self._engine = case, prepared, engine
        self._held: dict[str, Storage] = {}
        self._other: dict[str, Tensor] = {}
        for name, content in case.buffers.items():
            self._put(name, content)

    def results(self) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for number in range(len(self._case.rounds)):
            found |= self._round(number)
        return found

    def _put(self, name: str, content: Tensor) -> None:
        device = self._prepared.homes.get(name)
        if device is None or not content.bits:
            # No node names it, or there is nothing in it.
            self._other[name] = content
        else:
            array = np.frombuffer(bytes.fromhex(content.bits), np.uint8)
            self._held[name] = self._engine.upload(device, array)

    def _round(self, number: int) -> dict[str, Array]:
        each, prepared = self._case.rounds[number], self._prepared.rounds[number]
        for name, content in each.writes.items():
            self._put(name, content)
        given = {place: self._held[each.buffers[0][0]] for place, each in enumerate(prepared.inputs)}
        launched = prepared.plan.launch(given)
        found = worths(prepared, prepared.asked.values(), launched.storages, self._engine, self._held)
        results = {asked_key(number, name): found[value] for name, value in prepared.asked.items()}
        for name, value in prepared.later.items():
            spot = prepared.spots.get(value)
            self._held[name] = self._held[prepared.before[value]] if spot is None else launched.storages[spot.place]
        results |= {read_key(number, name): self._read(name) for name in each.read}
        return results

    def _read(self, name: str) -> Array:
        if name not in self._held:
            return to_array(self._other[name])
        like = self._case.buffers[name]
        (content,) = self._engine.fetched([(self._prepared.homes[name], self._held[name])])
        return content.view(NUMPY[like.dtype]).reshape(like.shape)
