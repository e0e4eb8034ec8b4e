"""A process that ends, or hangs, has refused nothing: where an error is right, that is none."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Category, Observation, RankError
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.reference.transforms.meaning import typed_meaning
from conformance.specs.graphs import CLAUSES
from conformance.specs.sharded import CLAUSES as OF_SHARDED
from conformance.specs.types.verdict import judge

FOUR = from_array(np.ones(4, np.float32))
BUFFER = Node(id="a", op="buf", of=(), shape=(4,), dtype="float32", device="d0", arg="a")
BAD = GraphCase(
    graph=Graph(nodes=(BUFFER, replace(BUFFER, id="n", op="reshape", of=("a",), shape=(3,), arg=None)), results=("n",)),
    buffers={"a": FOUR},
    rounds=(Round(until=2, asked=("n",)),),
)
STARTED = TypedStep(op="all_reduce", inputs=("x",), output="t", axes=("i",), attrs={"op": "sum"}, start=True)
DONE = TypedStep(op="done", inputs=("t",), output="y", axes=(), attrs={"of": "all_reduce"})
PROGRAM = TypedProgram(
    mesh=(Axis("i", 2),),
    inputs={"x": TypedInput(dtype="float32", shape=(4,), varying=("i",))},
    steps=(STARTED, DONE),
    results=("y",),
)
WAYS = pytest.mark.parametrize(("category", "held"), [("internal", "held"), ("no_answer", "broken")])


def ended(category: Category) -> Observation:
    return Observation(errors=(RankError(kind="Crash", message="ended by SIGSEGV", category=category),) * 2)


@WAYS
def test_graph_c4_and_sharded_c6_of_a_reshape_that_does_not_fit(category: Category, held: str) -> None:
    sharded = ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=BAD)
    assert judge_graph(graph_meaning(BAD), ended(category), CLAUSES, STANDARD).clauses["graph.C4"] == held
    assert judge_sharded(sharded_meaning(sharded), ended(category), OF_SHARDED, STANDARD).clauses["sharded.C6"] == held


@WAYS
def test_types_c1_of_an_axis_that_is_not_mapped(category: Category, held: str) -> None:
    step = replace(STARTED, output="y", axes=("j",), start=False)
    case = TypedCase(program=replace(PROGRAM, steps=(step,)), inputs={"x": (FOUR,) * 2})
    assert judge(typed_meaning(case), ended(category), ("jax",)).clauses == {"types.C1": held}


@pytest.mark.parametrize(
    ("category", "outcome", "clauses"),
    [("internal", "passed", {"starts.C12": "held"}), ("no_answer", "errored", {"transposes.C14": "broken"})],
)
def test_starts_c12_who_may_refuse_a_program_may_not_end_with_it(
    category: Category, outcome: str, clauses: dict[str, str]
) -> None:
    case = TypedCase(program=PROGRAM, inputs={"x": (FOUR,) * 2}, cotangents={"y": (FOUR,) * 2})
    found = judge(typed_meaning(case), ended(category), ("jax",))
    assert (found.outcome, found.clauses) == (outcome, clauses)


@pytest.mark.parametrize(
    ("category", "outcome", "clauses"),
    [("internal", "passed", {"types.C16": "held"}), ("no_answer", "errored", {"types.C14": "broken"})],
)
def test_types_c16_who_may_refuse_a_reduction_over_local_axes_may_not_end_with_it(
    category: Category, outcome: str, clauses: dict[str, str]
) -> None:
    step = replace(STARTED, output="y", attrs={"op": "sum", "local_axes": (0,)}, start=False)
    case = TypedCase(program=replace(PROGRAM, steps=(step,)), inputs={"x": (FOUR,) * 2})
    found = judge(typed_meaning(case), ended(category))
    assert (found.outcome, found.clauses) == (outcome, clauses)


def test_types_c1_of_a_program_with_which_one_rank_goes_on() -> None:
    step = replace(STARTED, output="y", axes=("j",), start=False)
    case = TypedCase(program=replace(PROGRAM, steps=(step,)), inputs={"x": (FOUR,) * 2})
    both = ended("invalid_argument")
    one = replace(both, errors=(both.errors[0], None), results={"y": (None, FOUR)})
    assert judge(typed_meaning(case), both).clauses == {"types.C1": "held"}
    assert judge(typed_meaning(case), one).clauses == {"types.C1": "broken"}
