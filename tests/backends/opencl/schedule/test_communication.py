"""What is done to collectives, each on and off: where operands lie, algorithms, order and calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.settings import COMMUNICATION, OPTIMISATIONS, Settings, other_communication
from conformance.cases.case import Case, Operand
from conformance.cases.graph.buffer import Buffer
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.schedule.schedule import Collective, Kernel, Schedule
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.specs.schedules import judge

PLAIN: Layout = "contiguous"


def alu(op: str, inputs: str, output: str) -> Step:
    return Step(op="alu", inputs=tuple(inputs.split()), outputs=(output,), axes=(), attrs={"op": op})


def met(inputs: str, outputs: str, op: str = "all_reduce", **attrs: Any) -> Step:
    attrs = attrs or {"op": "sum"}
    return Step(op=op, inputs=tuple(inputs.split()), outputs=tuple(outputs.split()), axes=("i",), attrs=attrs)


def case(*steps: Step, results: str, extent: int = 64, ranks: int = 2) -> Case:
    blocks = tuple(from_array(np.arange(extent, dtype=np.int32) + rank) for rank in range(ranks))
    program = Program(mesh=(Axis("i", ranks),), steps=steps, results=tuple(results.split()))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=(PLAIN,) * ranks)})


CHAIN = (
    alu("add", "x x", "a"), met("a", "p"), alu("mul", "x a", "b"), met("b", "q"), alu("sub", "p q", "c"),
    alu("mul", "c x", "d"), met("d", "e"), alu("add", "e x", "f"),
)  # fmt: skip


def collectives(made: Schedule) -> list[Collective]:
    return [item for item in made.items if isinstance(item, Collective)]


def read_first(made: Schedule) -> list[Buffer]:
    """Return the buffer that each collective's parts read first."""
    known = {buffer.id: buffer for buffer in made.buffers}
    return [known[item.parts[0].accesses[0].buffer] for item in collectives(made)]


SWITCHED = [OPTIMISATIONS[name] for name in COMMUNICATION]


@pytest.mark.parametrize("changes", [{}, *SWITCHED, {name: off for each in SWITCHED for name, off in each.items()}])
@pytest.mark.parametrize("extent", [5, 64, 300])
def test_every_must_holds_with_each_switch_on_and_off(
    changes: dict[str, Any], extent: int, opencl: Any, agree: Any
) -> None:
    asked = case(*CHAIN, results="f", extent=extent)
    backend = opencl(**changes)
    agree(asked, backend.execute(asked))
    agree(asked, backend.execute(asked))
    for planned in (True, False):
        made = with_graph(backend.schedule(asked, planned=planned), program_graph(asked))
        assert [found for found in judge(made) if found.finding == "broken"] == []


def test_operands_lie_in_a_pool_that_every_run_of_a_plan_has_again(opencl: Any) -> None:
    asked = case(*CHAIN, results="f")
    backend = opencl(bucket_upto=0)
    made = backend.schedule(asked)
    assert {each.communication for each in read_first(made)} == {"ranks 0, 1"}
    named = {each.id: each.allocation for each in made.buffers if each.communication and each.base is None}
    assert all(named.values())
    other = backend.schedule(case(*CHAIN, results="e"))
    assert not set(named.values()) & {each.allocation for each in other.buffers}
    again = backend.reschedule(asked, iteration=2)
    assert again == made
    engine = backend.engine
    blocks = [np.arange(64, dtype=np.int32)] * 2
    given = {"x": engine.put([(block, block) for block in blocks])}
    plan = engine.plan(asked.program, given)
    storages = dict(enumerate(given["x"].storages))
    first, second = plan.launch(storages), plan.launch(storages)
    pool = plan.schedule.memory.pool
    assert pool < len(first.storages)
    assert [each.cell for each in first.storages[pool:]] == [each.cell for each in second.storages[pool:]]
    second.wait()


def test_what_is_given_or_asked_for_is_no_communication_buffer(opencl: Any) -> None:
    made = opencl().schedule(case(met("x", "p"), alu("add", "p p", "a"), met("a", "q"), results="a q"))
    assert [each.communication for each in read_first(made)] == ["", ""]
    kept = [each for each in made.buffers if each.communication]
    assert not any(each.output or each.preexisting or each.held for each in kept)


@pytest.mark.parametrize(("extent", "chosen"), [(32, "one_shot"), (33, "direct")])
def test_one_shot_is_taken_up_to_its_threshold(extent: int, chosen: str, opencl: Any) -> None:
    made = opencl(bucket_upto=0).schedule(case(*CHAIN, results="f", extent=extent))
    assert {item.algorithm for item in collectives(made)} == {chosen}
    assert all(item.choice is not None and item.choice.threshold == 128 for item in collectives(made))
    assert {each.communication for each in read_first(made)} == {"ranks 0, 1"}
    off = opencl(bucket_upto=0, one_shot_upto=0).schedule(case(*CHAIN, results="f", extent=extent))
    assert {item.algorithm for item in collectives(off)} == {"direct"}


def test_neighbours_that_need_neither_each_other_are_one_call(opencl: Any) -> None:
    asked = case(*CHAIN, results="f")
    first, second, third = collectives(opencl().schedule(asked))
    assert first.call == second.call != "" == third.call
    assert first.turns == second.turns == (1, 1)
    assert third.turns == (2, 2)
    assert [item.call for item in collectives(opencl(bucket_upto=511).schedule(asked))] == ["", "", ""]
    assert [item.turns for item in collectives(opencl(bucket_upto=0).schedule(asked))] == [(1, 1), (2, 2), (3, 3)]


def test_operands_of_one_step_are_one_call_whatever_is_bucketed(opencl: Any) -> None:
    made = opencl(bucket_upto=0).schedule(case(alu("add", "x x", "a"), met("x a", "p q"), results="p q", extent=4))
    first, second = collectives(made)
    assert first.call == second.call != ""
    assert first.algorithm == second.algorithm == "direct"


@pytest.mark.parametrize("on", [True, False])
def test_a_sum_overwrites_an_operand_that_nobody_reads_any_more(on: bool, opencl: Any) -> None:
    made = opencl(in_place=on, bucket_upto=0).schedule(case(*CHAIN, results="f"))
    written = [{a.buffer for part in item.parts for a in part.accesses if a.write} for item in collectives(made)]
    read = [{a.buffer for part in item.parts for a in part.accesses if not a.write} for item in collectives(made)]
    # The first operand is read once more, after the sum has begun.
    assert [one == other for one, other in zip(written, read, strict=True)] == [False, on, on]


def positions(made: Schedule) -> tuple[list[int], dict[str, int]]:
    kernels = {name: n for n, item in enumerate(made.items) if isinstance(item, Kernel) for name in item.provenance}
    return [n for n, item in enumerate(made.items) if isinstance(item, Collective)], kernels


INDEPENDENT = (
    alu("add", "x x", "a"), met("a", "p"), alu("mul", "p x", "u"), alu("mul", "x x", "v"), met("v", "q"),
    alu("sub", "x a", "w"), alu("sub", "u q", "y"),
)  # fmt: skip


def test_collectives_begin_early_and_what_needs_them_comes_late(opencl: Any) -> None:
    asked = case(*INDEPENDENT, results="y w", extent=2048)
    on, kernels = positions(opencl().schedule(asked))
    assert kernels["v[1]"] < on[1] < kernels["w[0]"] < kernels["y[0]"]
    assert on[0] < kernels["v[0]"] < on[1]
    off, kernels = positions(opencl(overlap=False).schedule(asked))
    assert max(kernels["w[0]"], kernels["v[0]"]) < off[0]


def order_of(made: Schedule) -> list[tuple[str, str, Sequence[int] | None]]:
    return [(item.group, item.algorithm, item.turns) for item in collectives(made)]


def test_random_estimates_move_computation_and_no_collective(opencl: Any) -> None:
    asked = case(*INDEPENDENT, results="y w", extent=2048)
    backend = opencl()
    made = [backend.reschedule(asked, costs=seed) for seed in range(8)]
    assert {tuple(order_of(each)) for each in made} == {tuple(order_of(backend.schedule(asked)))}
    assert len({tuple(item.id for item in each.items) for each in made} | {str(each.items) for each in made}) > 1


def test_switched_turns_all_that_is_done_to_collectives(opencl: Any) -> None:
    off = replace(Settings(), one_shot_upto=0, bucket_upto=0, overlap=False, in_place=False, pool=False)
    assert other_communication(Settings()) == off
    assert other_communication(off) == Settings()
    asked = case(*CHAIN, results="f")
    bare = opencl(one_shot_upto=0, bucket_upto=0, overlap=False, in_place=False, pool=False)
    assert opencl().reschedule(asked, switched=True) == bare.schedule(asked)
