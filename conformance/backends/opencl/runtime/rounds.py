"""Graphs on the devices, round by round: buffers stay, and so do values that a later round needs."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from conformance.backends.base import Refused
from conformance.backends.opencl.dry_run import DryRun, dry_rounds, kept_name
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.index_map import IndexMap, identity
from conformance.backends.opencl.graph.node import Buffer, Node
from conformance.backends.opencl.lower.values import Wanted
from conformance.backends.opencl.runtime.capacity import check_fits
from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.memory import Storage
from conformance.backends.opencl.runtime.plan import Launched, Plan, enqueued, texts_of
from conformance.backends.opencl.runtime.platform import INDIVISIBLE
from conformance.backends.opencl.schedule.batch import Enqueued
from conformance.backends.opencl.schedule.packing import packed
from conformance.backends.opencl.schedule.schedule import Schedule
from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.graph.validate import validate_graph
from conformance.cases.schedule.index_map import Affine, elements
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


class Spot(NamedTuple):
    """Where a value lies: bytes of the storage at a place."""

    place: int
    start: int
    stop: int


class Input(NamedTuple):
    """A storage that a plan takes: its device and bytes, and which buffers lie in it, each with its first byte."""

    device: int
    size: int
    buffers: tuple[tuple[str, int], ...]


class PreparedRound(NamedTuple):
    """A round made ready: ``inputs`` are the storages that its plan takes, ``wanted`` where every value lies.

    ``later`` are the values that a later round needs, by the names of their buffers. ``spots`` has by number where the
    plan leaves a value, and ``before`` the buffer of one that it does not touch.
    """

    plan: Plan
    inputs: tuple[Input, ...]
    wanted: dict[int, Wanted]
    asked: dict[str, int]
    later: dict[str, int]
    spots: dict[int, Spot]
    before: dict[int, str]


class Scheduled(NamedTuple):
    """A round scheduled, and the items of its schedule as the devices are given them."""

    dry: DryRun
    enqueued: Enqueued


class Prepared(NamedTuple):
    """A graph made ready, to be run on other buffers again and again; ``homes`` has the device of each buffer."""

    rounds: tuple[PreparedRound, ...]
    homes: dict[str, int]


NOTHING: Final[Mapping[str, Storage]] = MappingProxyType({})


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
            found = self._made[key] = _prepared(scheduled, self._engine, together=together)
            if len(self._made) > PREPARED:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return found

    def _scheduled(self, case: GraphCase, *, checked: bool) -> tuple[Scheduled, ...]:
        for node, why in validate_graph(case).items() if checked else ():
            raise Refused(f"node {node!r}: {why}")
        session, settings = self._engine.session, self._engine.settings
        dry = dry_rounds(case, settings, session.platform.alignment)
        return tuple(Scheduled(each, enqueued(each.schedule, session, settings)) for each in dry)


def _prepared(scheduled: Iterable[Scheduled], engine: Engine, *, together: bool) -> Prepared:
    rounds = []
    homes: dict[str, int] = {}
    settings, platform = engine.settings, engine.session.platform
    for each, items in scheduled:
        homes |= {node.name: node.device for node in each.there}
        check_fits(each, platform)
        made, given = each.schedule, len(each.schedule.inputs)
        if together and platform.alignment < INDIVISIBLE:
            memory, given = packed(made.memory, given, platform.alignment, settings.arena)
            made = msgspec.structs.replace(made, memory=memory)
        plan = Plan(made, each.lowered, tuple(range(given)), engine.session, items, settings.optimise_from)
        wanted = each.lowering.wanted
        before = {one.value.number: one.node for one in wanted if isinstance(one.node, Buffer)}
        lying: dict[int, Node] = {number: node for number, node in before.items() if node in made.places}
        for place, one in enumerate(wanted):
            for block in each.lowered.results.get(f"{place}", ()):
                assert block is not None  # what is a result has elements
                lying[one.value.number] = block.node
        rounds.append(
            PreparedRound(
                plan,
                tuple(_input(made, place) for place in range(given)),
                {one.value.number: one for one in wanted},
                {name: value.number for name, value in each.asked.items()},
                {kept_name(value): value.number for value in each.later},
                {value: _spot(made, node) for value, node in lying.items()},
                {value: node.name for value, node in before.items()},
            )
        )
    return Prepared(tuple(rounds), homes)


def _spot(made: Schedule, node: Node) -> Spot:
    start = made.memory.offsets[node]
    return Spot(made.places[node], start, start + node.size * FORMATS[node.dtype].itemsize)


def _input(made: Schedule, place: int) -> Input:
    buffers = [node for node in made.inputs if made.places[node] == place]
    return Input(
        buffers[0].device, made.sizes[place], tuple((each.name, made.memory.offsets[each]) for each in buffers)
    )


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


def worths(
    prepared: PreparedRound,
    numbers: Collection[int],
    storages: Sequence[Storage],
    engine: Engine,
    held: Mapping[str, Storage] = NOTHING,
) -> dict[int, Array]:
    """Return by number what values of a round are worth, of its ``storages`` and of those ``held``; block once.

    Those without a storage are the same number everywhere.
    """
    wanted: dict[int, tuple[int, Storage]] = {}
    lying: dict[int, tuple[int, slice]] = {}
    for number in numbers:
        spot, device = prepared.spots.get(number), prepared.wanted[number].value.device
        if spot is not None:
            storage, part = storages[spot.place], slice(spot.start, spot.stop)
        elif number in prepared.before:
            storage, part = held[prepared.before[number]], slice(None)
        else:
            continue
        wanted[id(storage)] = device, storage
        lying[number] = id(storage), part
    contents = dict(zip(wanted, engine.fetched(list(wanted.values())), strict=True))
    parts = {number: contents[one][part] for number, (one, part) in lying.items()}
    return {number: worth(prepared.wanted[number], parts.get(number)) for number in numbers}


def worth(wanted: Wanted, content: Array | None) -> Array:
    """Return what a value is worth: the bytes that lie in its storage, or without one the number it is everywhere."""
    value = wanted.value
    if content is None:
        bits = value.arg if value.op == "const" else bytes(NUMPY[value.dtype].itemsize)
        return np.broadcast_to(np.frombuffer(bits, NUMPY[value.dtype])[0], value.shape)
    return gathered(content.view(NUMPY[value.dtype]), wanted.map, value.shape)


def gathered(content: Array, index_map: IndexMap, shape: tuple[int, ...]) -> Array:
    """Return the elements that a map names."""
    if index_map == identity(shape) and content.size == math.prod(shape):
        return content.reshape(shape)
    neutral = tuple(
        Affine(extents=each.extents, strides=each.strides, offset=each.offset, mask=each.mask) for each in index_map
    )
    at, _ = elements(neutral, {})
    return np.asarray(content[at])


class Held:
    """A graph of one round whose buffers lie on the devices: launched again and again, on what they hold by then."""

    def __init__(self, prepared: Prepared, content: Mapping[str, Array], engine: Engine) -> None:
        """Upload the content of the buffers; raise ``ValueError`` for a graph of several rounds."""
        if len(prepared.rounds) != 1:
            raise ValueError(f"a graph that is held has one round, and this has {len(prepared.rounds)}")
        (self._round,) = prepared.rounds
        self._engine = engine
        arrays = {name: np.ascontiguousarray(each).reshape(-1).view(np.uint8) for name, each in content.items()}
        self._given = {
            place: engine.upload(each.device, _laid(each, arrays)) for place, each in enumerate(self._round.inputs)
        }

    def launch(self) -> Running:
        """Enqueue every command and return what is under way; nothing blocks."""
        return Running(self._round.plan.launch(self._given), self._round, self._engine)


def _laid(given: Input, arrays: Mapping[str, Array]) -> Array:
    """Return the bytes of a storage, those between its buffers undefined."""
    if len(given.buffers) == 1:
        return arrays[given.buffers[0][0]]
    content = np.empty(given.size, np.uint8)
    for name, start in given.buffers:
        content[start : start + arrays[name].size] = arrays[name]
    return content


class Running(NamedTuple):
    """A graph under way."""

    launched: Launched
    round: PreparedRound
    engine: Engine

    def wait(self) -> None:
        """Block until every command is done."""
        self.launched.wait()

    def read(self, name: str) -> Array:
        """Return what a node that was asked for is worth; block until it is there."""
        return self._worths([self.round.asked[name]])[self.round.asked[name]]

    def results(self) -> dict[str, Array]:
        """Return what each node that was asked for is worth; block once, until all are there."""
        found = self._worths(self.round.asked.values())
        return {name: found[number] for name, number in self.round.asked.items()}

    def _worths(self, numbers: Collection[int]) -> dict[int, Array]:
        return worths(self.round, numbers, self.launched.storages, self.engine)
