"""Barriers on the devices: what follows one waits for what the members of its group did before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph.node import Buffer, whole
from conformance.backends.opencl.graph.trace import trace
from conformance.backends.opencl.lower import lower
from conformance.backends.opencl.schedule.item import Barrier, Kernel
from conformance.backends.opencl.schedule.schedule import Schedule, schedule
from conformance.backends.opencl.settings import Settings
from conformance.cases.case import Case


def plan_of(case: Case) -> Schedule:
    blocks = case.inputs["x"].blocks
    sources = {"x": tuple(whole(Buffer(rank, b.dtype, 40, "x"), b.shape) for rank, b in enumerate(blocks))}
    traced = trace(case.program, sources, lambda _: [])
    lowered = lower(traced, Settings(force="one_shot"))
    wanted = tuple(block for ranks in lowered.results.values() for block in ranks if block is not None)
    return schedule(wanted, 128, lowered.stages, traced.barriers)


def two_sums(make_program: Any, **barrier: Any) -> Case:
    steps = [
        ("all_reduce", ("x",), ("y",), {"op": "sum"}),
        ("barrier", (), (), barrier),
        ("all_reduce", ("x",), ("z",), {"op": "max"}),
    ]
    blocks = [np.arange(40, dtype=np.int32) + rank for rank in range(4)]
    return make_program({"i": 2, "j": 2}, {"x": blocks}, steps, ("z", "y"))


def test_steps_on_either_side_of_a_barrier_keep_to_it(make_program: Any) -> None:
    items = plan_of(two_sums(make_program)).items
    places = [place for place, item in enumerate(items) if isinstance(item, Barrier)]
    kernels = [(place, item.body.operation) for place, item in enumerate(items) if isinstance(item, Kernel)]
    assert [items[place].device for place in places] == [0, 1, 2, 3]
    assert {op for place, op in kernels if place < places[0]} == {"sum"}
    assert {op for place, op in kernels if place > places[-1]} == {"max"}
    assert all(set(items[place].after) >= {number for number, _ in kernels if number < place} for place in places)


@pytest.mark.parametrize("through", ["a result", "a buffer"])
def test_what_is_needed_after_a_barrier_is_still_done_before_it(through: str, make_program: Any) -> None:
    barrier: tuple[Any, ...] = ("barrier", (), (), {})
    first: tuple[Any, ...] = ("all_reduce", ("x",), ("y",), {"op": "sum"})
    steps = [first, barrier, ("all_reduce", ("y",), ("z",), {"op": "max"})]
    if through == "a buffer":
        written = [("buffer", ("x",), ("b",), {}), first, ("assign", ("b", "y"), (), {})]
        steps = [*written, barrier, ("all_reduce", ("b",), ("z",), {"op": "max"})]
    blocks = [np.arange(40, dtype=np.int32) + rank for rank in range(4)]
    items = plan_of(make_program({"i": 4}, {"x": blocks}, steps, ("z",))).items
    places = [place for place, item in enumerate(items) if isinstance(item, Barrier)]
    after = [item.body.operation for item in items[places[-1] :] if isinstance(item, Kernel)]
    assert after == ["max"] * 4
    assert all(items[place].after == tuple(range(places[0])) != () for place in places)


def test_only_members_of_a_group_wait_for_each_other(make_program: Any) -> None:
    items = plan_of(two_sums(make_program, axes=("i",), groups=((1, 0),))).items
    barriers = [item for item in items if isinstance(item, Barrier)]
    assert len(barriers) == 4
    assert all({items[number].device % 2 for number in item.after} == {item.device % 2} for item in barriers)


def test_a_barrier_changes_no_value(opencl: Any, make_program: Any, agree: Any) -> None:
    case = two_sums(make_program, groups=((3,), (0, 1, 2)))
    agree(case, opencl().execute(case))
