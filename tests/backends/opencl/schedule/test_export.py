"""The schedule in neutral form: judged by the clauses about schedules, and run by NumPy in legal orders."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.discovery import BackendSpec
from conformance.backends.opencl.dry_run import dry_run
from conformance.backends.opencl.export.schedule import exported
from conformance.backends.opencl.settings import ALGORITHMS, Settings
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Device
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.builders import graph, node, stored
from conformance.cases.schedule.codec import parse, text
from conformance.cases.schedule.schedule import Collective, Schedule
from conformance.cases.tensor.tensor import from_array
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.reference.schedule.data import initial
from conformance.reference.schedule.execute import executable, run
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.orders import legal_orders
from conformance.reference.spmd import evaluate
from conformance.runner.dialects.schedule import SCHEDULED_PROGRAMS
from conformance.runner.draws import draw_cases
from conformance.runner.worker.in_process import InProcess
from conformance.specs.schedules import CLAUSE_BY_ID, judge
from tests.runner.asked_schedules import ask_schedule

STEPS = {
    "sums": [("all_reduce", ("x",), ("y",), {"op": "sum"}), ("all_reduce", ("y",), ("z",), {"op": "max"})],
    "pieces": [
        ("reduce_scatter", ("x",), ("s",), {"op": "product", "axis": 0, "tiled": True}),
        ("all_gather", ("s",), ("y",), {"axis": 0, "tiled": True}),
        ("all_to_all", ("x",), ("z",), {"split_axis": 0, "concat_axis": 1, "tiled": True}),
    ],
    "groups": [
        ("all_reduce", ("x",), ("y",), {"op": "mean", "groups": ((3, 0), (1, 2))}),
        ("barrier", (), (), {}),
        ("arg_reduce", ("x",), ("z",), {"op": "min", "groups": ((3,), (0, 1, 2))}),
    ],
    "ways": [
        ("permute", ("x",), ("y",), {"pairs": ((0, 3), (1, 2))}),
        ("broadcast", ("y",), ("z",), {"root": 2}),
        ("axis_index", (), ("i",), {}),
    ],
    "local": [
        ("all_reduce", ("x",), ("y",), {"op": "premul_sum", "factor": 2.0, "local_axes": (1,)}),
        ("shuffle", ("x",), ("z",), {"sources": (2, 0, 3, 1)}),
    ],
}


def program(make_program: Any, name: str, dtype: str) -> Case:
    steps = STEPS[name]
    made = tuple(target for _, _, targets, _ in steps for target in targets)
    return make_program({"r": 4}, {"x": [np.ones((8, 3), dtype)] * 4}, steps, made)


def problems(schedule: Schedule) -> list[Any]:
    # What is a *may* an implementation may leave: an arena for copies alone, say.
    return [
        each for each in judge(schedule) if each.finding == "broken" and CLAUSE_BY_ID[each.clause].requirement != "may"
    ]


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", STEPS)
def test_every_clause_about_schedules_holds(
    name: str, algorithm: str, reuse: bool, opencl: Any, make_program: Any
) -> None:
    case = program(make_program, name, "float32")
    found = with_graph(opencl(force=algorithm, reuse=reuse).schedule(case), program_graph(case))
    assert not problems(found)
    assert executable(Facts(found)) is None
    assert parse(text(found).encode()) == found


@pytest.fixture(scope="module")
def drawn() -> list[Case]:
    """Return a few of the programs that the suite of schedules draws by the hundred."""
    cases: list[Case] = []
    draw_cases(SCHEDULED_PROGRAMS, 8, 8, cases.append)
    return cases


@pytest.mark.parametrize("order", [None, 1])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_clause_holds_of_random_programs(
    algorithm: str, order: int | None, drawn: list[Case], opencl: Any
) -> None:
    pair = [InProcess(BackendSpec("it", ()), backend=opencl(force=algorithm, order=order)) for _ in range(2)]

    judged = [ask_schedule(case, *pair) for case in drawn]
    assert not [each.ways for each in judged if any(CLAUSE_BY_ID[name].requirement != "may" for name in each.ways)]
    assert sum(each.missing is None for each in judged) >= 4


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", STEPS)
def test_numpy_computes_what_the_devices_should_in_any_legal_order(
    name: str, algorithm: str, opencl: Any, make_program: Any
) -> None:
    case = program(make_program, name, "float32")
    facts = Facts(opencl(force=algorithm).schedule(case))
    before = initial(facts)
    # A block that nobody needs has no buffer.
    names = [f"x[{rank}]" for rank in range(4)]
    blocks = [
        before.array(name).reshape(8, 3).copy() if name in facts.buffers else np.ones((8, 3), np.float32)
        for name in names
    ]
    drawn = make_program({"r": 4}, {"x": blocks}, STEPS[name], case.program.results)
    wanted = evaluate(drawn)
    for order in itertools.islice(legal_orders(facts), 4):
        after = run(facts, order)
        for result, ranks in wanted.items():
            for rank, block in enumerate(ranks):
                if block is not None:
                    found = after.array(f"result {result}[{rank}]")
                    assert np.array_equal(found, np.asarray(block).reshape(-1)), (result, rank, order)


def test_what_the_devices_compute_is_what_its_schedule_says(opencl: Any, make_program: Any, agree: Any) -> None:
    for name in STEPS:
        case = program(make_program, name, "float32")
        agree(case, opencl().execute(case))


def test_a_collective_touches_its_own_group_though_nobody_asked_for_what_came_before(
    opencl: Any, make_program: Any
) -> None:
    steps = [
        ("reduce_scatter", ("x",), ("s",), {"op": "max", "axis": 0, "tiled": False}),
        ("permute", ("s",), ("z",), {"pairs": ((0, 0),), "groups": ((0, 1), (2, 3))}),
    ]
    case = make_program({"r": 4}, {"x": [np.ones((4, 1), np.float32)] * 4}, steps, ("z",))
    found = with_graph(opencl().schedule(case), program_graph(case))
    assert not problems(found)
    assert [item.op for item in found.items if isinstance(item, Collective)] == ["reduce_scatter", "permute", "permute"]


def test_a_collective_says_who_meets_and_how(opencl: Any, make_program: Any) -> None:
    found = opencl(force="ring").schedule(program(make_program, "groups", "int32"))
    collectives = [item for item in found.items if isinstance(item, Collective)]
    assert [(one.op, one.participants, one.algorithm) for one in collectives] == [
        ("all_reduce", ("3", "0"), "ring"),
        ("all_reduce", ("1", "2"), "ring"),
        ("arg_reduce", ("3",), "naive"),
        ("arg_reduce", ("0", "1", "2"), "naive"),
    ]
    assert collectives[0].attrs["op"] == "mean"


def test_turns_are_those_of_the_items_on_each_device(make_program: Any) -> None:
    steps = [("all_reduce", ("x",), (name,), {"op": op}) for name, op in (("y", "sum"), ("z", "max"))]
    case = make_program({"r": 2}, {"x": [np.ones(4, np.int32)] * 2}, steps, ("y", "z"))
    made, lowered = dry_run(case, Settings(force="one_shot"), 128)
    for order, turns in (((0, 1, 2, 3), [(1, 1), (2, 2)]), ((0, 3, 2, 1), [(1, 2), (2, 1)])):
        items = tuple(made.items[number] for number in order)
        found = exported(replace(made, items=items), lowered, 2, Device(alignment=128)).items
        assert [item.turns for item in found if isinstance(item, Collective)] == turns
        assert [len(item.parts) for item in found if isinstance(item, Collective)] == [2, 2]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "bfloat16", "float8_e5m2", "complex64"])
def test_bodies_mean_the_same_for_every_kind_of_dtype(dtype: str, opencl: Any, make_case: Any) -> None:
    ops = [
        "sum",
        *(["mean"] if dtype != "complex64" else []),
        *(["xor"] if dtype in ("bool", "int8", "uint16") else []),
    ]
    for op in ops:
        case = make_case("all_reduce", [np.zeros(6, from_name(dtype))] * 3, op=op)
        facts = Facts(opencl().schedule(case))
        blocks = [initial(facts).array(f"x[{rank}]").copy() for rank in range(3)]
        wanted = evaluate(make_case("all_reduce", blocks, op=op))["y"][0]
        assert from_array(run(facts).array("result y[0]")) == from_array(np.asarray(wanted))


@pytest.mark.parametrize("attrs", [{"op": "mean"}, {"op": "premul_sum", "factor": 2.0}])
def test_what_is_done_to_complex_numbers_part_by_part_has_no_body(attrs: Any, opencl: Any, make_case: Any) -> None:
    case = make_case("all_reduce", [np.zeros(6, np.complex64)] * 3, **attrs)
    found = with_graph(opencl().schedule(case), program_graph(case))
    assert executable(Facts(found)) is not None
    assert not problems(found)
    assert {each.clause for each in judge(found) if each.finding == "held"} >= {"law.C3"}


def from_name(dtype: str) -> Any:
    from conformance.cases.tensor.dtypes import NUMPY

    return NUMPY[dtype]


def test_what_is_there_already_is_not_assigned_again(opencl: Any, make_program: Any) -> None:
    steps: Any = [("buffer", ("x",), ("b",), {}), ("permute", ("x",), ("y",), {"pairs": ((0, 1), (1, 0))})]
    steps += [("assign", ("b", "b"), (), {}), ("all_reduce", ("b",), ("z",), {"op": "sum"})]
    case = make_program({"r": 2}, {"x": [np.ones(4, np.float32)] * 2}, steps, ("y", "z"))
    found = with_graph(opencl().schedule(case), program_graph(case))
    assert not problems(found)
    assert not any("assign" in name for item in found.items for name in getattr(item, "provenance", ()))


def test_without_a_plan_nothing_shares_storage(opencl: Any, make_program: Any) -> None:
    case = program(make_program, "sums", "float32")
    planned, plain = (opencl(force="ring").schedule(case, planned=plan) for plan in (True, False))
    assert [any(buffer.planned for buffer in each.buffers) for each in (planned, plain)] == [True, False]


def test_an_empty_graph_has_an_empty_schedule(opencl: Any) -> None:
    assert opencl().schedule(Graph(nodes=(), results=())).items == ()


def test_what_only_padding_hides_is_neither_copied_nor_read(opencl: Any) -> None:
    nodes = (
        stored("a"),
        node("there", "copy", "a", device="d1", arg=None),
        node("wide", "pad", "there", shape=(8,), device="d1", arg=((0, 4),)),
        stored("b", (8,), device="d1"),
        node("sum", "alu", "wide", "b", shape=(8,), device="d1", arg="add"),
        node("y", "shrink", "sum", device="d1", arg=((4, 8),)),
        node("z", "alu", "y", "y", device="d1", arg="mul"),
    )
    made = opencl().schedule(graph(*nodes, results=["z"]))
    assert [type(item).__name__ for item in made.items] == ["Kernel"]
    assert {access.buffer for access in made.items[0].accesses if not access.write} == {"b"}
