"""What cases show: clauses that speak, and the words that they speak about."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.runner.meaning import meaning
from conformance.vectors.shown_values import parts_of
from conformance.vectors.value_words import conversion_word, node_values, value_words


def summed(*, axes: tuple[str, ...] = ("i",)) -> Case:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=axes, attrs={"op": "sum"})
    blocks = tuple(from_array(np.array([1, 2], np.int32)) for _ in range(2))
    return Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "contiguous"))},
    )


def test_a_collective_pairs_its_clauses_with_its_words() -> None:
    first, whole = parts_of(meaning(summed()))
    assert "all_reduce.C1" in first.clauses
    assert {"dtype=int32", "reduction=sum", "members=2", "dtype=int32 reduction=sum", "legal=yes"} <= first.words
    assert "operation=all_reduce" in whole.words


def test_an_illegal_collective_has_the_clause_that_refuses_it() -> None:
    subject = meaning(summed(axes=("i", "i")))
    assert subject.rejected is not None
    assert any(subject.rejected.clause in part.clauses for part in parts_of(subject))
    assert not any("legal=yes" in part.words for part in parts_of(subject))


def added(*values: float) -> GraphCase:
    buffer = Node(id="b", op="buf", shape=(len(values),), dtype="float32", device="d0", arg="b")
    twice = Node(id="n", op="alu", of=("b", "b"), shape=(len(values),), dtype="float32", device="d0", arg="add")
    graph = Graph(nodes=(buffer, twice), results=("n",))
    held = {"b": from_array(np.array(values, np.float32))}
    return GraphCase(graph=graph, buffers=held, rounds=(Round(until=2, asked=("n",)),))


def test_a_node_has_the_values_that_meet_in_it() -> None:
    shown = {
        word
        for part in parts_of(graph_meaning(added(np.nan, -0.0)))
        if "does alu add" in part.clauses
        for word in part.words
    }
    assert {
        "values nan, nan",
        "values -zero, -zero",
        "operands alike",
        "dtype: float32",
        "operand 0: does buf",
    } <= shown
    assert "values one, one" not in shown


def test_nodes_are_worth_what_eager_evaluation_makes_of_them() -> None:
    assert node_values(added(1.0, 3.0))["n"].tolist() == [2.0, 6.0]


def test_kinds_of_values_of_integers_are_their_ends() -> None:
    assert value_words([np.array([127, -128, 5], np.int8)], None) == {"value greatest", "value least", "value other"}


@pytest.mark.parametrize(
    ("given", "made", "said"),
    [
        (np.array([257], np.int32), np.array([256], ml_dtypes.bfloat16), "rounds integer to bfloat16"),
        (np.array([256], np.int32), np.array([256], ml_dtypes.bfloat16), "converts integer to bfloat16"),
        (np.array([np.nan], np.float32), np.array([0], np.int8), "converts float to int8"),
        (np.array([2**53 + 1], np.int64), np.array([2.0**53]), "rounds integer to float64"),
    ],
)
def test_a_conversion_says_whether_a_number_is_rounded(given: Array, made: Array, said: str) -> None:
    assert conversion_word(given, made) == said
