"""Schedules that are only looked at: of a traced program for whoever runs it, and of a case without any device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from conformance.backends.base import Refused, Unsupported
from conformance.backends.opencl.fuse.partition import reachable
from conformance.backends.opencl.fuse.storage import strided
from conformance.backends.opencl.graph.constant_values import constants_among
from conformance.backends.opencl.graph.node import Buffer, Movement
from conformance.backends.opencl.graph.rounds import RoundValues, devices_of, storages_of
from conformance.backends.opencl.graph.trace import Traced, trace
from conformance.backends.opencl.graph.value import GraphValue, base
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.backends.opencl.lower import Blocks, Lowered, lower
from conformance.backends.opencl.lower.values import Lowering, nodes_of
from conformance.backends.opencl.schedule.legal_orders import reordered
from conformance.backends.opencl.schedule.schedule import Schedule, schedule
from conformance.backends.opencl.settings import Settings, lanes
from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.graph.validate import validate_graph
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.layout import place
from conformance.cases.tensor.tensor import to_array


def scheduled(traced: Traced, settings: Settings, alignment: int) -> tuple[Schedule, Lowered]:
    """Return the schedule of a traced program, and what it is of; sub-buffers begin at multiples of ``alignment``."""
    lowered = lower(traced, settings)
    needed = (*lowered.results.values(), *lowered.buffers.values())
    wanted = tuple(block for blocks in needed for block in blocks if block is not None)
    made = schedule(
        wanted,
        alignment,
        lowered.stages,
        traced.barriers,
        settings,
        lowered.turns,
        lowered.members,
        lowered.registered,
    )
    return (made if settings.order is None else reordered(made, lowered.turns, settings.order)), lowered


def dry_run(case: Case, settings: Settings, alignment: int) -> tuple[Schedule, Lowered]:
    """Return the schedule of the program of ``case``, and what it is of, without a device.

    Raise a ``RejectionError`` for an illegal program, and ``Unsupported`` where the schedule depends on data.
    """
    sources: Mapping[str, tuple[Movement, ...]] = {
        name: tuple(
            _placed(name, rank, *place(to_array(block), layout))
            for rank, (block, layout) in enumerate(zip(operand.blocks, operand.layouts, strict=True))
        )
        for name, operand in case.inputs.items()
    }

    def read(traced: Traced) -> list[Array]:  # noqa: ARG001 - nothing is computed here
        raise Unsupported("the tables of a ragged exchange are data, which a schedule that is not run has none of")

    return scheduled(trace(case.program, sources, read, lanes(settings)), settings, alignment)


def view_of(storage: Array, view: Array) -> View:
    """Return how ``view`` lies in ``storage``, in elements."""
    width = storage.dtype.itemsize
    first: Any = view.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
    return View(view.shape, tuple(stride // width for stride in view.strides), first // width)


def _placed(name: str, rank: int, storage: Array, view: Array) -> Movement:
    return Movement(Buffer(rank, logical(storage.dtype), storage.size, name), view_of(storage, view))


def scheduled_round(lowering: Lowering, settings: Settings, alignment: int) -> tuple[Schedule, Lowered]:
    """Return the schedule of a round of a graph: result ``n`` is what was wanted ``n``-th, where it has a node."""
    results: dict[str, Blocks] = {
        f"{number}": (Movement(each.node, contiguous((each.node.size,))),)
        for number, each in enumerate(lowering.wanted)
        if each.node is not None and each.node.size and not isinstance(each.node, Buffer)
    }
    buffers: dict[str, Blocks] = {
        name: (Movement(node, contiguous((node.size,))),) for name, node in lowering.buffers.items() if node.size
    }
    return scheduled(Traced(results, (), buffers, lowering.received), settings, alignment)


class DryRun(msgspec.Struct, frozen=True):
    """The schedule of one round of a graph, and what it was made of.

    ``asked`` are the values asked for, by node, and ``later`` those that a later round needs. ``there`` are the nodes
    of what is there before the round.
    """

    schedule: Schedule
    lowered: Lowered
    lowering: Lowering
    round_values: RoundValues
    devices: dict[str, int]
    asked: dict[str, GraphValue]
    later: tuple[GraphValue, ...]
    there: tuple[Buffer, ...]


def dry_rounds(case: GraphCase, settings: Settings, alignment: int, *, checked: bool = True) -> Iterator[DryRun]:
    """Yield the schedules of the rounds of a case, without a device; raise ``Refused`` for what has no meaning.

    What a round computes and a later one asks for or takes is kept, as a buffer named after its value. What is not
    ``checked`` is taken for well formed.
    """
    for name, why in validate_graph(case).items() if checked else ():
        raise Refused(f"node {name!r}: {why}")
    case, settings = _asked_as_listed(case), of_known_sizes(case.graph, settings)
    devices = devices_of(case)
    storages = storages_of(case, devices)
    round_values = RoundValues(case.graph, storages, devices, settings.split_from)
    kept: dict[GraphValue, Buffer] = {}
    for number, each in enumerate(case.rounds):
        for name in each.writes:
            if name in storages:
                round_values.written(name)
        round_values.begin()
        bound = case.bound(number)
        for node in case.listed(number):
            round_values.take(node, bound)
        asked = {name: round_values.worth(name) for name in each.asked}
        later = tuple(value for value in _later(case, number, round_values) if value not in kept)
        given = {name: Buffer(one.device, one.dtype, one.size, name) for name, one in storages.items()}
        lowering = nodes_of(round_values, [*asked.values(), *later], later, given, kept, settings)
        made, lowered = scheduled_round(lowering, settings, alignment)
        there = (*given.values(), *kept.values())
        yield DryRun(made, lowered, lowering, round_values, devices, asked, later, there)
        for value in later:
            kept[value] = Buffer(value.device, value.dtype, value.size, kept_name(value))


def of_known_sizes(graph: Graph, settings: Settings) -> Settings:
    """Return the settings for a graph: of one with variables nobody knows the sizes that a pool would have."""
    return replace(settings, pool=False) if graph.variables else settings


def _asked_as_listed(case: GraphCase) -> GraphCase:
    """Return the case that asks for the same in the order of its list, so that no schedule depends on another one."""
    place = {node.id: number for number, node in enumerate(case.graph.nodes)}
    rounds = tuple(
        msgspec.structs.replace(each, asked=tuple(sorted(each.asked, key=place.__getitem__))) for each in case.rounds
    )
    return msgspec.structs.replace(case, rounds=rounds)


def kept_name(value: GraphValue) -> str:
    """Return the name of the buffer of a value that is kept between rounds."""
    return f"kept {value.number}"


def _later(case: GraphCase, number: int, round_values: RoundValues) -> list[GraphValue]:
    """Return what the values, listed up to now, that nodes of later rounds take or that they ask for are movement of.

    What was asked for is there as long as there are rounds: somebody may ask for the same by another name. Movement in
    a later round is of the value below all movement, whose sources may be overwritten by then. Movement that has to be
    stored to be given is kept too where it is asked for again.
    """
    rounds = case.rounds[number + 1 :]
    names = [name for node in case.graph.nodes[case.rounds[number].until :] for name in node.of]
    names += [name for each in rounds for name in each.asked]
    names += case.rounds[number].asked if rounds else ()
    known = round_values.meanings
    found = (known[name] for name in names if name in known)
    values = dict.fromkeys(base(each) for each in found if isinstance(each, GraphValue))
    again = {name for each in rounds for name in each.asked}.intersection(case.rounds[number].asked)
    values |= dict.fromkeys(each for name in sorted(again) if not strided(each := round_values.worth(name)))
    needed = [value for value in values if value.size and value.op != "const"]
    made = constants_among(reversed(reachable(needed)))
    return [value for value in needed if value not in made]
