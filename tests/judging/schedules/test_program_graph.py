"""The graph of a program: it means what the reference computes, whatever the layout, the view or the order."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import LAYOUTS, Layout, place
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.generate.suites import DOMAINS
from conformance.judging.schedules.program_graph import NoGraph, program_graph, with_graph
from conformance.reference.schedule.data import initial
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.graph import evaluate_graph, worth
from conformance.reference.schedule.memory import Memory
from conformance.reference.spmd import evaluate
from conformance.runner.draws import draw_cases
from conformance.specs import OPS

PART = {"start": (2, 0), "stop": (-1, 3), "step": (-2, 1), "order": (1, 0)}


def step(op: str, inputs: str, outputs: str = "", into: str = "", /, **attrs: Any) -> Step:
    names = [tuple(text.split()) for text in (inputs, outputs, into)]
    axes = () if op in ("buffer", "view", "assign", "copy", "free", "done") else ("i",)
    return Step(op=op, inputs=names[0], outputs=names[1], into=names[2], axes=axes, attrs=attrs)


def case(*steps: Step, results: str, layout: Layout = "contiguous", shape: tuple[int, ...] = (3, 3)) -> Case:
    blocks = [np.full(shape, rank + 1, np.int32) for rank in range(2)]
    operand = Operand(blocks=tuple(map(from_array, blocks)), layouts=(layout,) * 2)
    program = Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split()))
    return Case(program=program, inputs={"x": operand})


def meant(asked: Case) -> dict[str, Array]:
    """Return what the graph means on the data of the case."""
    made = with_graph(Schedule(devices={}, buffers=(), items=()), program_graph(asked))
    validate_schedule(made)
    facts = Facts(made)
    memory = Memory(facts, initial(facts).storages)
    for name, operand in asked.inputs.items():
        for rank, (block, layout) in enumerate(zip(operand.blocks, operand.layouts, strict=True)):
            if f"{name}[{rank}]" in facts.buffers:
                memory.storages[f"{name}[{rank}]"] = place(to_array(block), layout)[0].view(np.uint8).copy()
    assert made.graph is not None
    found = evaluate_graph(made.graph, memory, {})
    return {name: worth(found.meanings[name], memory) for name in made.graph.results}


def agree(asked: Case) -> None:
    found = meant(asked)
    for name, ranks in evaluate(asked).items():
        for rank, block in enumerate(ranks):
            if block is not None:
                assert from_array(found[f"{name}[{rank}]"]) == from_array(np.asarray(block)), (name, rank)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_block_is_the_movement_of_its_storage(layout: Layout) -> None:
    agree(case(step("all_reduce", "x", "y", op="sum"), results="x y", layout=layout))


def test_a_view_is_turned_cut_thinned_and_put_in_order() -> None:
    agree(
        case(
            step("buffer", "x", "b"),
            step("view", "b", "v", **PART),
            step("permute", "v", "y", pairs=((0, 1),)),
            step("assign", "v y"),
            step("all_reduce", "v", "z", "v", op="sum"),
            results="b v y z",
        )
    )


def test_a_copy_and_what_a_send_has_under_way_are_older_than_the_write() -> None:
    agree(
        case(
            step("buffer", "x", "b"),
            step("copy", "b", "c"),
            step("send", "b", "t", pairs=((0, 1), (1, 0))),
            step("all_reduce", "b", "z", "b", op="sum"),
            step("recv", "t", "y", pairs=((0, 1), (1, 0)), shape=(3, 3), dtype="int32"),
            results="b c y z",
        )
    )


def test_the_storage_of_a_buffer_is_a_result_until_it_is_freed() -> None:
    asked = case(step("buffer", "x", "b"), step("all_reduce", "x", "y", op="sum"), results="y")
    freed = case(*asked.program.steps, step("free", "b"), results="y")
    assert set(meant(asked)) - set(meant(freed)) == {"storage b[0]", "storage b[1]"}


def test_every_drawn_program_has_a_graph_that_means_the_same() -> None:
    for suite in ("collectives", "aliasing", "async"):
        for op in OPS.keys() & DOMAINS[suite].keys():

            def look(drawn: Case) -> None:
                try:
                    program_graph(drawn)
                except NoGraph:
                    return
                agree(drawn)

            draw_cases(DOMAINS[suite][op], 3, 0, look)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (case(step("all_reduce", "x", "y", op="median"), results="y"), "illegal by"),
        (case(step("ragged_all_to_all", "x x x x x x", "y"), results="y"), "tables of ragged_all_to_all are data"),
    ],
)
def test_what_has_no_graph_says_why(asked: Case, words: str) -> None:
    with pytest.raises(NoGraph, match=words):
        program_graph(asked)


@pytest.mark.parametrize(
    ("storage", "changes", "held"),
    [
        ("b[0]", {"base": "x[0]"}, "no data"),
        ("x[1]", {"preexisting": False}, "data"),
        ("b[0]", {"preexisting": True}, "no data"),
    ],
)
def test_a_schedule_says_nothing_else_of_the_storages_that_were_asked_about(
    storage: str, changes: dict[str, Any], held: str
) -> None:
    asked = program_graph(case(step("buffer", "x", "b"), step("all_reduce", "b", "c", op="sum"), results="c"))
    made = with_graph(Schedule(devices={}, buffers=(), items=()), asked)
    assert with_graph(made, asked).buffers == made.buffers
    other = replace(made, buffers=tuple(replace(b, **changes) if b.id == storage else b for b in made.buffers))
    with pytest.raises(
        ScheduleError, match=re.escape(f"{storage!r}: it was asked for as a storage of its own, with {held}")
    ):
        with_graph(other, asked)
