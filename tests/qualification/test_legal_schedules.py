"""Right engines that schedule unusually are refused by no *must*, and do something of their own."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from conformance.backends.base import Backend
from conformance.cases.graph.graph import Function, Graph, Node
from conformance.cases.schedule.builders import alu, node, stored, tensor
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.tensor.tensor import from_array
from conformance.generate.graphs.scheduled import graphs
from conformance.judging.schedules.program_graph import with_graph
from conformance.qualification.legal_schedules import legal_schedules
from conformance.qualification.legal_schedules.by_hand import by_hand
from conformance.qualification.legal_schedules.engine import Legal, Scheduler
from conformance.runner.dialects.schedule import SCHEDULED_PROGRAMS, sharded_graphs
from conformance.runner.draws import numbered
from conformance.specs.schedules import CLAUSE_BY_ID, judge

SLOW = pytest.mark.slow
VARIANTS = tuple(each for each in legal_schedules() if issubclass(each, Legal))


def refused(backend: Scheduler, asked: Graph) -> set[str]:
    found = judge(with_graph(backend.schedule(asked), asked))
    return {
        each.clause for each in found if each.finding == "broken" and CLAUSE_BY_ID[each.clause].requirement == "must"
    }


@cache
def drawn(seed: int, examples: int) -> tuple[Graph, ...]:
    made = (numbered(graphs(), seed, number)[0] for number in range(examples))
    # Past thresholds NumPy takes seconds for all that a variant makes of one.
    return tuple(asked for asked in made if all(extent not in (8192, 1024) for n in asked.nodes for extent in n.shape))


@pytest.mark.parametrize(("what", "made"), list(by_hand()), ids=[what for what, _ in by_hand()])
def test_no_must_refuses_a_right_schedule(what: str, made: Schedule) -> None:
    broken = {each.clause for each in judge(made) if each.finding == "broken"}
    assert not {clause for clause in broken if CLAUSE_BY_ID[clause].requirement == "must"}, what


@pytest.mark.parametrize(
    ("seed", "examples"), [(0, 8), *(pytest.param(seed, 60, marks=SLOW) for seed in range(5))], ids=str
)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)
def test_no_must_refuses_a_right_engine(variant: type[Scheduler], seed: int, examples: int) -> None:
    backend = variant()
    assert Counter(clause for asked in drawn(seed, examples) for clause in refused(backend, asked)) == {}


@pytest.mark.parametrize("number", [23, 26, 52])
def test_no_must_refuses_the_plainest_schedule_of_a_program_on_shards(number: int) -> None:
    assert refused(Scheduler(), numbered(sharded_graphs(), 0, number)[0]) == set()


def test_the_plainest_schedule_counts_and_takes_by_index() -> None:
    on: dict[str, Any] = {"dtype": "int32", "device": "d"}
    nodes = (
        Node(id="x", op="buf", shape=(2, 3), arg="x", **on),
        Node(id="i", op="iota", shape=(2, 2), arg=1, **on),
        Node(id="back", op="flip", of=("x",), shape=(2, 3), arg=(1,), **on),
        Node(id="taken", op="gather", of=("back", "i"), shape=(2, 2, 2), arg=1, **on),
    )
    asked = Graph(nodes=nodes, results=("taken",))
    found = judge(with_graph(Scheduler().schedule(asked), asked))
    assert {each.clause for each in found if each.finding == "broken"} == set()
    assert {"law.C1", "bodies.C7"} <= {each.clause for each in found if each.finding == "held"}


def test_each_variant_schedules_some_graph_in_its_own_way() -> None:
    asked, plain = drawn(1, 40), Scheduler()
    made = [plain.schedule(each) for each in asked]
    for variant in VARIANTS:
        backend = variant()
        assert any(backend.schedule(each) != one for each, one in zip(asked, made, strict=True)), variant.__name__


def test_there_are_variants_enough_and_each_says_who_schedules_so() -> None:
    assert len(VARIANTS) >= 12
    assert all(issubclass(each, Backend) and each.__doc__ for each in VARIANTS)


def test_drawn_graphs_reach_the_clauses_that_a_variant_can_show() -> None:
    wanted = {*(f"waits.C{n}" for n in range(1, 7)), "memory.C9", "copies.C9", "variables.C6"}
    names = ("WaitsTwice", "MeetsInPlace", "AddsUpByCopies", "OwnsItsCommunicationBuffers", "RoundsBuffers")
    backends = [variant() for variant in VARIANTS if variant.__name__ in names]
    every = drawn(0, 160)
    for each in (*(each for each in every if each.variables), *every[:48]):
        for backend in backends if wanted else ():
            found = judge(with_graph(backend.schedule(each), each))
            wanted -= {one.clause for one in found if one.finding != "silent"}
    assert (len(backends), wanted) == (len(names), set())


def test_materialises_views_does_no_assign_when_it_moves_one_that_was_written_over() -> None:
    on: dict[str, Any] = {"dtype": "int32", "device": "d"}
    nodes = (
        Node(id="x", op="buf", shape=(4,), arg="x", **on),
        Node(id="front", op="shrink", of=("x",), shape=(3,), arg=((0, 3),), **on),
        Node(id="back", op="shrink", of=("x",), shape=(3,), arg=((1, 4),), **on),
        Node(id="moved", op="assign", of=("front", "back"), shape=(3,), **on),
        Node(id="one", op="const", shape=(4,), arg=from_array(np.int32(1)), **on),
        Node(id="written", op="assign", of=("x", "one"), shape=(4,), **on),
    )
    asked = Graph(nodes=nodes, results=("moved", "written"))
    assert refused(_variant("MaterialisesViews"), asked) == set()


def test_materialises_views_moves_what_an_assign_of_itself_leaves() -> None:
    on: dict[str, Any] = {"shape": (4,), "dtype": "int32", "device": "d"}
    nodes = (Node(id="x", op="buf", arg="x", **on), Node(id="same", op="assign", of=("x", "x"), **on))
    assert refused(_variant("MaterialisesViews"), Graph(nodes=nodes, results=("same",))) == set()


def test_no_buffer_is_registered_that_a_collective_brings_beside_one_that_is_not() -> None:
    def on(device: str) -> dict[str, Any]:
        return {"shape": (4,), "dtype": "int32", "device": device}

    nodes = (
        *(Node(id=f"x{n}", op="buf", arg=f"x{n}", **on(f"d{n}")) for n in (0, 1)),
        *(Node(id=f"one{n}", op="all_reduce", of=("x0", "x1"), fold="add", **on(f"d{n}")) for n in (0, 1)),
        Node(id="back", op="flip", of=("one0",), arg=(0,), **on("d0")),
        *(Node(id=f"two{n}", op="all_reduce", of=("back", "one1"), fold="max", **on(f"d{n}")) for n in (0, 1)),
        *(Node(id=f"end{n}", op="alu", of=(f"two{n}",), arg="neg", **on(f"d{n}")) for n in (0, 1)),
    )
    assert refused(_variant("OwnsItsCommunicationBuffers"), Graph(nodes=nodes, results=("end0", "end1"))) == set()


def test_no_operand_is_packed_that_is_taken_by_index() -> None:
    on: dict[str, Any] = {"dtype": "int32", "device": "d"}
    nodes = (
        Node(id="x", op="buf", shape=(3,), arg="x", **on),
        Node(id="i", op="iota", shape=(2,), arg=0, **on),
        Node(id="taken", op="gather", of=("x", "i"), shape=(2,), arg=0, **on),
    )
    assert refused(_variant("PacksOperands"), Graph(nodes=nodes, results=("taken",))) == set()


def _variant(name: str) -> Scheduler:
    return next(each() for each in VARIANTS if each.__name__ == name)


def test_calls_are_drawn() -> None:
    assert any(node.op == "call" for asked in drawn(0, 100) for node in asked.nodes)


def test_programs_are_the_native_engines() -> None:
    case, _ = numbered(SCHEDULED_PROGRAMS, 0, 0)
    assert VARIANTS[0]().schedule(case) == Scheduler().schedule(case)


def test_the_plainest_schedule_copies_a_number_that_was_computed_elsewhere() -> None:
    one = tensor(1)
    nodes = (
        Node(id="x", op="buf", shape=(4, 0), dtype="float32", device="d0", arg="x"),
        Node(id="one", op="const", shape=(4,), dtype="float32", device="d0", arg=one),
        Node(id="nothing", op="reduce", of=("x",), shape=(4,), dtype="float32", device="d0", arg=(1,), fold="add"),
        Node(id="sum", op="alu", of=("one", "nothing"), shape=(4,), dtype="float32", device="d0", arg="max"),
        Node(id="there", op="copy", of=("sum",), shape=(4,), dtype="float32", device="d1", arg=True),
        Node(id="used", op="alu", of=("there", "there"), shape=(4,), dtype="float32", device="d1", arg="add"),
    )
    assert refused(Scheduler(), Graph(nodes=nodes, results=("sum", "used"))) == set()


def test_the_plainest_schedule_tells_the_results_of_a_call_apart() -> None:
    function = Function(
        nodes=(node("p", "param", arg=0), alu("r", "neg", "p"), alu("s", "add", "p", "p")), result="r", more=("s",)
    )
    asked = Graph(
        nodes=(stored("a"), node("c", "call", "a", arg="f"), node("i", "item", "c", arg=1), alu("y", "neg", "i")),
        results=("c", "y"),
        functions={"f": function},
    )
    assert refused(Scheduler(), asked) == set()
