"""Schedules that are only looked at: of a traced program for whoever runs it, and of a case without any device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from conformance.backends.base import Unsupported
from conformance.backends.opencl.graph.asked import Asking, devices_of, storages_of
from conformance.backends.opencl.graph.node import Buffer, Movement
from conformance.backends.opencl.graph.trace import Traced, trace
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.backends.opencl.lower import Blocks, Lowered, lower
from conformance.backends.opencl.lower.values import Lowering, nodes_of
from conformance.backends.opencl.schedule.reorder import reordered
from conformance.backends.opencl.schedule.schedule import Schedule, schedule
from conformance.backends.opencl.settings import Settings
from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.layout import place
from conformance.cases.tensor.tensor import to_array


def scheduled(traced: Traced, settings: Settings, alignment: int) -> tuple[Schedule, Lowered]:
    """Return the schedule of a traced program, and what it is of; sub-buffers begin at multiples of ``alignment``."""
    lowered = lower(traced, settings)
    needed = (*lowered.results.values(), *lowered.buffers.values())
    wanted = tuple(block for blocks in needed for block in blocks if block is not None)
    made = schedule(wanted, alignment, lowered.stages, traced.barriers, settings, lowered.turns)
    return (made if settings.order is None else reordered(made, lowered.turns, settings.order)), lowered


def drafted(case: Case, settings: Settings, alignment: int) -> tuple[Schedule, Lowered]:
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

    return scheduled(trace(case.program, sources, read), settings, alignment)


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


class Drafted(msgspec.Struct, frozen=True):
    """The schedule of one round of a graph that is only looked at, and what it was made of."""

    schedule: Schedule
    lowered: Lowered
    lowering: Lowering
    asking: Asking
    devices: dict[str, int]
    results: tuple[str, ...]


def drafted_graph(case: GraphCase, settings: Settings, alignment: int) -> Drafted:
    """Return the schedule of the first round of a case, without a device."""
    devices = devices_of(case)
    asking = Asking(case.graph, storages_of(case, devices), devices)
    asking.begin()
    for node in case.listed(0):
        asking.take(node, case.bound(0))
    results = case.rounds[0].asked
    given = {name: Buffer(each.device, each.dtype, each.size, name) for name, each in asking.storages.items()}
    lowering = nodes_of(asking, [asking.worth(name) for name in results], (), given, {}, settings)
    made, lowered = scheduled_round(lowering, settings, alignment)
    return Drafted(made, lowered, lowering, asking, devices, results)
