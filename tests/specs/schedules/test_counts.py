"""How many kernels a graph takes at most, and variables that several of them are told."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.graph.buffer import Bounds
from conformance.cases.graph.graph import Function, Variable
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    node,
    opaque,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Binding, Schedule
from conformance.specs.schedules import judge

SHAPES = [(2,) * rank for rank in range(6, -1, -1)]
FOLDS = ("add", "max") * 3


def finding(clause: str, made: Schedule) -> str:
    return next(each.finding for each in judge(made) if each.clause == clause)


def in_turn(count: int, calls: int) -> Schedule:
    """Return six folds in a function that is called so often by another one, and kernels one after the other."""
    nodes = [node("p", "param", shape=SHAPES[0], arg=0)]
    for at, fold in enumerate(FOLDS):
        nodes.append(node(f"r{at}", "reduce", nodes[-1].id, shape=SHAPES[at + 1], arg=(0,), fold=fold))
    inner = Function(nodes=tuple(nodes), result="r5")
    called = [node(f"c{at}", "call", "p", shape=(), arg="f") for at in range(calls)]
    sums = [alu(f"s{at}", "add", "c0" if at == 1 else f"s{at - 1}", f"c{at}", shape=()) for at in range(1, calls)]
    outer = Function(nodes=(nodes[0], *called, *sums), result=(called + sums)[-1].id)
    items = [opaque(f"k{at}", reads("a"), writes("y"), provenance=("y",)) for at in range(count)]
    made = graph(
        *(stored("a", SHAPES[0]), node("y", "call", "a", shape=(), arg="g")),
        results=["y"],
        functions={"f": inner, "g": outer},
    )
    return schedule((buffer("a", 64, preexisting=True), buffer("y", 64)), items, made, {"y": "y"})


@pytest.mark.parametrize(
    ("count", "calls", "said"), [(12, 1, "held"), (30, 1, "broken"), (36, 3, "held"), (45, 3, "broken")]
)
def test_fusion_c10_of_each_call_the_folds_of_its_function_count_twice(count: int, calls: int, said: str) -> None:
    assert finding("fusion.C10", in_turn(count, calls)) == said


@pytest.mark.parametrize(("label", "said"), [("z", "broken"), (None, "held")])
def test_fusion_c10_a_kernel_that_makes_more_than_a_detach_counts(label: str | None, said: str) -> None:
    nodes = (stored("a"), constant("1"), alu("z", "add", "a", "1"), node("d", "detach", "z"))
    own = (reads("a"), *([writes("z", node=label)] if label else []), writes("d", node="d"))
    items = [opaque(f"k{at}", *own, provenance=("z", "d")) for at in range(9)]
    made = schedule((*given("a"), buffer("z"), buffer("d")), items, graph(*nodes, results=["z", "d"]), {"d": "d"})
    assert finding("fusion.C10", made) == said


def test_variables_c3_is_about_variables_that_several_are_told() -> None:
    items = [elementwise(f"k{at}", "add", f"y{at}", "a", 1.0, variables=(Binding("n", 2 + at),)) for at in range(2)]
    buffers = (*given("a"), buffer("y0"), buffer("y1"))
    made = schedule(buffers, items, variables={"n": Bounds(low=1, high=4)})
    assert finding("variables.C3", made) == "broken"
    assert finding("variables.C3", replace(made, items=made.items[:1])) == "silent"
    asked = graph(stored("a"), results=["a"], variables={"n": Variable(low=1, high=4, value=3)})
    assert finding("variables.C3", replace(made, items=made.items[:1], graph=asked)) == "broken"
