"""Schedules that are only looked at: of a traced program for whoever runs it, and of a case without any device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.backends.base import Unsupported
from conformance.backends.opencl.graph.node import Buffer, Movement
from conformance.backends.opencl.graph.trace import Traced, trace
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.lower import Lowered, lower
from conformance.backends.opencl.schedule.reorder import reordered
from conformance.backends.opencl.schedule.schedule import Schedule, schedule
from conformance.backends.opencl.settings import Settings
from conformance.cases.case import Case
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
