"""What a product of several factors, and a sum of none, may be besides what the oracle gives."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.values import beyond, off, zero_signs
from conformance.reference.graph.evaluate import BoundedValue, evaluate


def asked(*nodes: Node, **buffers: list[float]) -> BoundedValue:
    """Return what the last node means, of buffers of float32."""
    held = {name: np.array(values, np.float32) for name, values in buffers.items()}
    names = [
        Node(id=name, op="buf", shape=each.shape, dtype="float32", device="d", arg=name) for name, each in held.items()
    ]
    listed, last = (*names, *nodes), nodes[-1].id
    case = GraphCase(
        graph=Graph(nodes=listed, results=(last,)),
        buffers={name: from_array(each) for name, each in held.items()},
        rounds=(Round(until=len(listed), asked=(last,)),),
    )
    return evaluate(case)[f"0/{last}"]


def product(a: float, b: float, c: float) -> BoundedValue:
    """Return what ``(a * b) * c`` means."""
    first = Node(id="p", op="alu", of=("a", "b"), shape=(1,), dtype="float32", device="d", arg="mul")
    last = Node(id="q", op="alu", of=("p", "c"), shape=(1,), dtype="float32", device="d", arg="mul")
    return asked(first, last, a=[a], b=[b], c=[c])


@pytest.mark.parametrize(("factors", "other"), [((0.0, 3e38, 3e38), np.nan), ((1e-30, 1e20, 1e25), np.inf)])
def test_factors_that_overflow_when_they_are_taken_first_leave_nothing_to_refuse(
    factors: tuple[float, float, float], other: float
) -> None:
    meant, given = product(*factors), from_array(np.array([other], np.float32))
    assert off(meant, given, STANDARD) is None
    assert beyond(meant, given, STANDARD) is None


def test_factors_that_overflow_in_no_order_have_a_bound() -> None:
    assert beyond(product(0.1, 0.3, 0.7), from_array(np.array([0.022], np.float32)), STANDARD) is not None


def test_a_sum_of_nothing_should_be_plus_zero_and_may_be_minus_zero() -> None:
    nothing = Node(id="s", op="reduce", of=("a",), shape=(), dtype="float32", device="d", arg=(0,), fold="add")
    meant = asked(nothing, a=[])
    minus = from_array(np.array(-0.0, np.float32))
    assert off(meant, minus, STANDARD) is None
    assert zero_signs(meant, minus, STANDARD) is not None


@pytest.mark.parametrize(
    ("factors", "right", "wrong"),
    [
        ((np.inf, 1.1, 1.3), np.inf, 0.0),
        ((np.inf, np.nan, 1e30), np.nan, np.inf),
        ((0.0, 1e30, -np.inf), np.nan, 0.0),
    ],
)
def test_graph_c13_a_fold_of_factors_with_an_infinity_has_one_value(
    factors: tuple[float, ...], right: float, wrong: float
) -> None:
    fold = Node(id="s", op="reduce", of=("a",), shape=(), dtype="float32", device="d", arg=(0,), fold="mul")
    meant = asked(fold, a=list(factors))
    assert off(meant, from_array(np.array(right, np.float32)), STANDARD) is None
    assert off(meant, from_array(np.array(wrong, np.float32)), STANDARD) is not None


def test_graph_c13_factors_that_vanish_beside_an_infinity_leave_it_open() -> None:
    fold = Node(id="s", op="reduce", of=("a",), shape=(), dtype="float32", device="d", arg=(0,), fold="mul")
    meant = asked(fold, a=[1e-30, 1e-30, np.inf])
    assert off(meant, from_array(np.array(np.nan, np.float32)), STANDARD) is None
