"""The meaning of graph cases: eager evaluation in list order, round by round, and how far apart right values may be."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Function, Graph, Node, Variable
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.reference.graph.evaluate import BoundedValue, evaluate
from conformance.reference.graph.rounding import UNKNOWN
from conformance.reference.graph.slack import radius, slack_of, unsettled
from conformance.reference.rejection import Rejected

A = np.array([1, 2, 3, 4], np.float32)


def node(id: str, op: str, *of: str, shape: tuple[Any, ...] = (4,), **rest: Any) -> Node:
    kept = {"dtype": "float32", "device": "d0"} | rest
    return Node(id=id, op=op, of=of, shape=shape, **kept)  # type: ignore[arg-type]  # fields of a node


def const(id: str, value: float, dtype: str = "float32", shape: tuple[Any, ...] = (4,)) -> Node:
    return node(id, "const", arg=from_array(np.array(value, NUMPY[dtype])), dtype=dtype, shape=shape)


def ran(*nodes: Node, a: Any = A, rounds: tuple[Round, ...] = (), **rest: Any) -> dict[str, BoundedValue]:
    first = node("a", "buf", arg="a", shape=a.shape, dtype=str(a.dtype))
    rounds = rounds or (Round(until=len(nodes) + 1, asked=(nodes[-1].id,), read=("a",)),)
    asked = tuple(dict.fromkeys(name for each in rounds for name in each.asked))
    graph = Graph(nodes=(first, *nodes), results=asked, **rest)
    return evaluate(GraphCase(graph=graph, buffers={"a": from_array(a)}, rounds=rounds))


def value(*nodes: Node, **rest: Any) -> list[Any]:
    found = ran(*nodes, **rest)
    return [item for key, item in found.items() if "buffer" not in key][-1].array.tolist()  # type: ignore[no-any-return]


def test_a_value_that_was_listed_before_a_write_is_that_of_before() -> None:
    late = np.full(4, 9, np.float32)
    nodes = (const("1", 1), node("b", "alu", "a", "1", arg="add"), node("v", "flip", "a", arg=(0,)))
    rounds = (Round(until=4), Round(until=4, writes={"a": from_array(late)}, asked=("b", "v"), read=("a",)))
    found = ran(*nodes, rounds=rounds)
    assert found["1/b"].array.tolist() == [2, 3, 4, 5]
    assert found["1/v"].array.tolist() == found["1/buffer/a"].array.tolist() == [9] * 4


def test_an_assign_writes_through_a_view_and_every_alias_sees_it() -> None:
    nodes = (
        node("s", "stride", "a", shape=(2,), arg=(-2,)),
        node("c", "const", shape=(2,), arg=from_array(np.float32(7))),
        node("w", "assign", "s", "c", shape=(2,)),
        node("p", "pad", "a", shape=(6,), arg=((1, 1),)),
    )
    assert value(*nodes) == [0, 1, 7, 3, 7, 0]


def test_a_swap_has_its_eager_value() -> None:
    nodes = (node("f", "flip", "a", arg=(0,)), node("k", "contig", "f"), node("w", "assign", "a", "k"))
    assert value(*nodes) == [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (node("x", "reduce", "a", shape=(), arg=(0,), fold="add"), 10),
        (node("x", "gather", "a", "i", shape=(4,), arg=0), [1, 2, 3, 4]),
        (node("x", "cast", "a", dtype="bool"), [True] * 4),
        (node("x", "bitcast", "a", dtype="int32"), A.view(np.int32).tolist()),
    ],
)
def test_single_nodes(given: Node, expected: Any) -> None:
    assert value(node("i", "iota", arg=0, dtype="uint8"), given) == expected


def test_an_index_out_of_range_is_the_nearest_inside_and_nobody_is_held_to_it() -> None:
    found = ran(const("i", 9, "int64", (1,)), node("x", "gather", "a", "i", shape=(1,), arg=0))["0/x"]
    assert found.array.tolist() == [4]
    assert radius(found.slack, found.array).tolist() == [np.inf]


def test_a_sum_in_a_wider_dtype_is_rounded_once() -> None:
    halves = np.array([256, 0.5, 0.5, 1], ml_dtypes.bfloat16)
    plain = node("x", "reduce", "a", shape=(), arg=(0,), fold="add", dtype="bfloat16")
    wide = node("y", "reduce", "a", shape=(), arg=(0,), fold="add", dtype="bfloat16", acc="float32")
    assert value(plain, a=halves) == 256
    assert value(wide, a=halves) == 258


def test_several_dtypes_are_promoted_and_a_function_has_several_results() -> None:
    function = Function(nodes=(node("p", "param", arg=0), node("q", "alu", "p", arg="neg")), result="q", more=("p",))
    nodes = (node("c", "call", "a", arg="f"), node("o", "item", "c", arg=1), const("i", 3, "int8"))
    mixed = node("x", "alu", "o", "i", arg="mul")
    assert value(*nodes, mixed, functions={"f": function}) == [3, 6, 9, 12]


def test_a_variable_narrows_an_axis_in_every_round_as_it_is_bound_there() -> None:
    names = {"n": Variable(low=1, high=4, value=2)}
    nodes = tuple(node(f"s{at}", "shrink", "a", shape=("n",), arg=((0, "n"),)) for at in (0, 1))
    rounds = (Round(until=2, asked=("s0",)), Round(until=3, values={"n": 3}, asked=("s1",)))
    found = ran(*nodes, rounds=rounds, variables=names)
    assert [found[key].array.tolist() for key in ("0/s0", "1/s1")] == [[1, 2], [1, 2, 3]]


def test_movement_beyond_its_source_is_rejected() -> None:
    with pytest.raises(Rejected, match="does not follow from"):
        ran(node("x", "reshape", "a", shape=(5,)))


def test_one_rounding_is_exact_and_the_next_sum_has_a_bound_that_holds_in_every_order() -> None:
    a = np.array([2**24, 1, 1, -(2**24)], np.float32)
    parts = [node(f"p{at}", "shrink", "a", shape=(1,), arg=((at, at + 1),)) for at in range(4)]
    one = node("x", "alu", "p0", "p1", arg="add", shape=(1,))
    found = ran(*parts, one, a=a)["0/x"]
    assert not (found.slack.mask & UNKNOWN).any()
    more = [node("y", "alu", "x", "p2", arg="add", shape=(1,)), node("z", "alu", "y", "p3", arg="add", shape=(1,))]
    found = ran(*parts, one, *more, a=a)["0/z"]
    reach = radius(found.slack, found.array)[0]
    assert 2 <= reach < 32


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("op", ["exp2", "log2", "sin", "sqrt", "recip"])
def test_functions_are_within_their_bounds_of_what_float64_gives(dtype: str, op: str) -> None:
    a = np.array([0.3, 1.7, 2.5, 3.1], NUMPY[dtype])
    found = ran(node("x", "alu", "a", arg=op, dtype=dtype), a=a)["0/x"]
    functions = {"exp2": np.exp2, "log2": np.log2, "sin": np.sin, "sqrt": np.sqrt, "recip": np.reciprocal}
    right = functions[op](a.astype(np.float64))
    reach = radius(found.slack, found.array)
    assert (np.abs(found.array.astype(np.float64) - right) <= np.maximum(reach, 2.0**-53 * 4)).all()


def test_a_pad_of_a_dtype_without_zero_adds_zero_bits_also_to_what_is_computed() -> None:
    like = {"dtype": "float8_e8m0fnu", "device": "d"}
    held = from_array(np.array([1, 4], NUMPY["float8_e8m0fnu"]))
    nodes = (
        Node(id="a", op="buf", shape=(2,), arg="a", **like),
        Node(id="c", op="contig", of=("a",), shape=(2,), **like),
        Node(id="p", op="pad", of=("c",), shape=(4,), arg=((1, 1),), **like),
    )
    case = GraphCase(
        graph=Graph(nodes=nodes, results=("p",)), buffers={"a": held}, rounds=(Round(until=3, asked=("p",)),)
    )
    assert evaluate(case)["0/p"].array.view(np.uint8).tolist() == [0, 127, 129, 0]


def test_a_number_that_is_asked_for_of_no_blocks_is_settled() -> None:
    node = Node(id="a", op="collective", shape=(), dtype="int32", device="d0", arg="axis_index", members=("d0", "d1"))
    known = slack_of(node, [], [], np.array(1, np.int32))
    assert not unsettled(known)
    assert not known.mask.any()
