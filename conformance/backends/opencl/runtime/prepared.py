"""Graphs made ready: a plan for each round, and where it takes and leaves values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from conformance.backends.opencl.dry_run import DryRun, kept_name
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Buffer, Node
from conformance.backends.opencl.lower.values import Wanted
from conformance.backends.opencl.runtime.capacity import check_fits
from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.plan import Plan
from conformance.backends.opencl.runtime.platform import INDIVISIBLE
from conformance.backends.opencl.schedule.batch import Enqueued
from conformance.backends.opencl.schedule.packing import packed
from conformance.backends.opencl.schedule.schedule import Schedule


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


def made_ready(scheduled: Iterable[Scheduled], engine: Engine, *, together: bool) -> Prepared:
    """Return the rounds that were scheduled made ready; raise ``TooLargeError`` and ``BuildError``.

    What goes in and comes out ``together`` lies in one storage of each device, where devices have parts of storages.
    """
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
