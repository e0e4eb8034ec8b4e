"""What sources leave open about a graph stays open, whatever takes it, and no more than that does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from conformance.backends.exceptions import rank_error
from conformance.cases.declarations.number_model import STANDARD, NumberModel, number_model
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.specs.graphs import CLAUSES

FLUSHED = number_model({"subnormals": "flushed"})


def node(id: str, op: str, *of: str, dtype: str = "float32", shape: tuple[int, ...] = (1,), **rest: Any) -> Node:
    return Node(id=id, op=op, of=of, dtype=dtype, shape=shape, device="d0", **rest)


def alu(id: str, op: str, *of: str, dtype: str = "float32") -> Node:
    return node(id, "alu", *of, dtype=dtype, arg=op)


def f32(*bits: int) -> Array:
    return np.array(bits, np.uint32).view(np.float32)


def blamed(given: Array, *nodes: Node, numbers: NumberModel = STANDARD, **buffers: Array) -> str:
    """Return the clause that what is given for the last node breaks."""
    leaves = [
        node(name, "buf", dtype=str(each.dtype), shape=each.shape, arg=name) for name, each in sorted(buffers.items())
    ]
    every = (*leaves, *nodes)
    case = GraphCase(
        graph=Graph(nodes=every, results=(every[-1].id,)),
        buffers={name: from_array(each) for name, each in buffers.items()},
        rounds=(Round(until=len(every), asked=(every[-1].id,)),),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = Observation(results={f"0/{every[-1].id}": (from_array(given),)})
        found = judge_graph(graph_meaning(case), seen, CLAUSES, numbers)
    return found.blame.id if found.blame else ""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("bits", [0xFFC00000, 0x7FC12345, 0x7F800001])
def test_a_conversion_may_have_one_nan_for_all(dtype: str, bits: int) -> None:
    canonical = np.array([np.nan], NUMPY[dtype])
    assert not blamed(canonical, node("x", "cast", "a", dtype=dtype), a=f32(bits))
    assert blamed(np.zeros(1, NUMPY[dtype]), node("x", "cast", "a", dtype=dtype), a=f32(bits)) == "graph.C11"


def test_a_conversion_of_an_integer_to_float32_by_way_of_float64_rounds_twice() -> None:
    data = np.array([2**60 + 2**36 + 1], np.int64)
    twice = data.astype(np.float64).astype(np.float32)
    assert blamed(twice, node("x", "cast", "a", dtype="float32"), a=data) == "graph.C11"
    assert not blamed(f32(0x5D800001), node("x", "cast", "a", dtype="float32"), a=data)


@pytest.mark.parametrize("op", ["flip", "contig", "bitcast", "gather"])
def test_what_is_moved_keeps_every_bit_of_a_nan(op: str) -> None:
    of, arg = (("a", "b"), 0) if op == "gather" else (("a",), (0,) if op == "flip" else None)
    moved = node("x", op, *of, arg=arg, dtype="uint32" if op == "bitcast" else "float32")
    given = np.array([np.nan], np.float32)
    buffers = {"a": f32(0xFFC00001), "b": np.array([0], np.int32)}
    assert blamed(given.view(np.uint32) if op == "bitcast" else given, moved, **buffers)


def gathered(*before: Node) -> tuple[Node, ...]:
    """Return a gather of the element that whether ``before`` is equal to ``b`` numbers."""
    return (
        *before,
        alu("e", "eq", before[-1].id, "b", dtype="bool"),
        node("i", "cast", "e", dtype="int32"),
        node("g", "gather", "c", "i", arg=0),
    )


def test_an_index_that_flushing_changes_is_open_where_it_is_declared() -> None:
    case = gathered(alu("s", "add", "a", "a"))
    data = {"a": f32(1), "b": f32(0), "c": np.array([5, 6], np.float32)}
    assert not blamed(np.array([6], np.float32), *case, numbers=FLUSHED, **data)
    assert blamed(np.array([6], np.float32), *case, **data)


def test_who_refuses_an_index_that_flushing_may_change_is_not_wrong() -> None:
    nodes = (
        *(node(name, "buf", arg=name) for name in ("a", "b")),
        node("c", "buf", arg="c", shape=(2,)),
        *gathered(alu("s", "add", "a", "a")),
    )
    data = {"a": f32(1), "b": f32(0), "c": np.array([5, 6], np.float32)}
    case = GraphCase(
        graph=Graph(nodes=nodes, results=("g",)),
        buffers={name: from_array(each) for name, each in data.items()},
        rounds=(Round(until=len(nodes), asked=("g",)),),
    )
    seen = Observation(errors=(rank_error(IndexError("out of range")),))
    assert judge_graph(graph_meaning(case), seen, CLAUSES, FLUSHED).outcome == "unsupported"


def test_an_index_that_a_dropped_nan_changes_is_open_and_the_nan_recommended() -> None:
    case = gathered(alu("s", "max", "a", "b"))
    data = {"a": f32(0x7FC00000), "b": np.array([1], np.float32), "c": np.array([5, 6], np.float32)}
    assert blamed(np.array([6], np.float32), *case, **data) == "graph.C37"
    assert not blamed(np.array([5], np.float32), *case, **data)


def test_the_bits_of_a_dropped_nan_are_open() -> None:
    case = (alu("s", "max", "a", "b"), node("x", "bitcast", "s", dtype="uint32"))
    data = {"a": f32(0x7FC00000), "b": np.array([1], np.float32)}
    assert not blamed(np.array([1], np.float32).view(np.uint32), *case, **data)


@pytest.mark.parametrize("op", ["recip", "sqrt", "log2", "sin"])
def test_a_function_of_a_flushed_number_is_that_of_zero(op: str) -> None:
    given = {"recip": np.inf, "log2": -np.inf}.get(op, 0.0)
    of = np.array([1e-38], np.float32)
    assert not blamed(np.array([given], np.float32), alu("x", op, "a"), numbers=FLUSHED, a=of)
    assert blamed(np.array([7], np.float32), alu("x", op, "a"), a=of)


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_of_zeros_of_both_signs_either_is_an_extreme(op: str, zero: float) -> None:
    data = np.array([0.0, -0.0], np.float32)
    fold = node("x", "reduce", "a", shape=(), arg=(0,), fold=op)
    assert not blamed(np.float32(zero), fold, a=data)
    assert not blamed(np.array([zero], np.float32), alu("x", op, "a", "b"), a=data[:1], b=data[1:])
    assert not blamed(
        np.array([zero], np.float32), alu("m", op, "a", "b"), alu("x", "neg", "m"), a=data[:1], b=data[1:]
    )


def test_a_zero_of_one_sign_keeps_it() -> None:
    data = np.array([-0.0], np.float32)
    assert blamed(np.zeros(1, np.float32), alu("x", "max", "a", "b"), a=data, b=data) == "graph.C38"


@pytest.mark.parametrize("sign", [0.0, -0.0])
def test_the_zero_of_a_dtype_without_nan_for_a_nan_has_either_sign(sign: float) -> None:
    dtype, name = NUMPY["float6_e2m3fn"], "float6_e2m3fn"
    zero, one = np.zeros(1, dtype), np.ones(1, dtype)
    given = np.array([sign]).astype(dtype)
    assert not blamed(given, alu("x", "div", "a", "b", dtype=name), a=zero, b=zero)
    assert not blamed(given, alu("x", "sqrt", "a", dtype=name), a=-one)
    settled = blamed(given, alu("x", "div", "a", "b", dtype=name), a=zero, b=one)
    assert settled == ("graph.C38" if np.signbit(sign) else "")


def test_a_sum_of_negative_zeros_may_begin_with_zero() -> None:
    fold = node("x", "reduce", "a", shape=(), arg=(0,), fold="add")
    assert not blamed(np.float32(0), fold, a=np.array([-0.0, -0.0], np.float32))
    met = node("x", "collective", "a", arg="all_reduce", members=("d0",), attrs={"op": "sum"})
    assert not blamed(np.zeros(1, np.float32), met, a=np.array([-0.0], np.float32))


@pytest.mark.parametrize(("op", "identity"), [("max", -np.inf), ("min", np.inf)])
def test_a_fold_that_drops_every_nan_is_recommended_against(op: str, identity: float) -> None:
    fold = node("x", "reduce", "a", shape=(), arg=(0,), fold=op)
    assert blamed(np.float32(identity), fold, a=f32(0x7FC00000, 0xFFC00000)) == "graph.C37"
    assert not blamed(np.float32(np.nan), fold, a=f32(0x7FC00000, 0xFFC00000))


def test_a_remainder_may_be_made_of_the_quotient() -> None:
    a, b = np.array([1], np.float32), np.array([0.1], np.float32)
    given = np.asarray(a - np.trunc(a / b) * b, np.float32)
    assert given != np.fmod(a, b)
    assert not blamed(given, alu("x", "mod", "a", "b"), a=a, b=b)


def test_the_root_of_a_square_may_be_a_product_with_the_reciprocal_root() -> None:
    square = np.array([49], np.float32)
    given = np.asarray(square * (np.float32(1) / np.float32(7)))
    assert given != 7
    assert blamed(given, alu("x", "sqrt", "a"), a=square) == "graph.C39"
    assert blamed(np.array([8], np.float32), alu("x", "sqrt", "a"), a=square) == "graph.C25"
    assert blamed(f32(0x40800001), alu("x", "sqrt", "a"), a=np.array([16], np.float32)) == "graph.C25"
    assert blamed(np.array([np.nan], np.float32), alu("x", "sqrt", "a"), a=f32(0)) == "graph.C25"


def test_a_sum_that_is_fused_is_no_root_that_is_rounded_wrongly() -> None:
    a, b, c = (np.array([each], np.float32) for each in (1.1, 1.7, 4))
    case = (alu("r", "sqrt", "c"), alu("p", "mul", "a", "b"), alu("x", "sub", "p", "r"))
    fused = np.asarray(a.astype(np.float64) * b - 2, np.float32)
    assert fused != a * b - np.float32(2)
    assert not blamed(fused, *case, a=a, b=b, c=c)


@pytest.mark.parametrize("given", [0.0, 2.0**-24])
def test_by_way_of_float32_a_conversion_may_be_a_tie_of_subnormal_numbers(given: float) -> None:
    near = np.array([2.0**-25 * (1 + 2.0**-30)])
    there = node("x", "cast", "a", dtype="float16")
    assert not blamed(np.array([given], np.float16), there, a=near)
    assert blamed(np.array([2.0**-22], np.float16), there, a=near) == "graph.C11"
    assert blamed(np.array([given + 2.0**-24], np.float16), there, a=np.array([given], np.float64)) == "graph.C11"


def test_a_signalling_nan_is_no_warning() -> None:
    data = np.array([np.uint32(0x7F800001)]).view(np.float32)
    for op in ("add", "mul", "max", "div", "lt", "mod"):
        dtype = "bool" if op == "lt" else "float32"
        steps = (alu("s", "add", "a", "b"), alu("t", "add", "s", "a"), alu("x", op, "t", "a", dtype=dtype))
        given = np.zeros(1, np.bool_) if op == "lt" else np.array([np.nan], np.float32)
        assert not blamed(given, *steps, a=data, b=data)


def test_a_quotient_by_a_lost_reciprocal_is_recommended_alone() -> None:
    tiny = np.array([1e-40], np.float32)
    by_reciprocal = f32(0x7F800000)
    assert blamed(by_reciprocal, alu("x", "div", "a", "b"), a=tiny, b=tiny) == "graph.C39"
    assert blamed(np.array([2], np.float32), alu("x", "div", "a", "b"), a=f32(0x3F800000), b=f32(0x40400000)) != ""


@pytest.mark.parametrize("wrong", [1.0, np.inf, np.nan])
def test_graph_c25_the_reciprocal_of_an_infinity(wrong: float) -> None:
    endless = np.array([-np.inf], np.float32)
    assert blamed(np.array([wrong], np.float32), alu("x", "recip", "a"), a=endless) == "graph.C25"
    assert not blamed(np.array([-0.0], np.float32), alu("x", "recip", "a"), a=endless)


@pytest.mark.parametrize("op", ["div", "recip"])
def test_a_sum_with_what_an_infinity_divides_has_one_value(op: str) -> None:
    steps = (alu("q", op, *(("b", "a") if op == "div" else ("a",))), alu("x", "add", "q", "b"))
    operands = {"a": np.array([np.inf], np.float32), "b": f32(0x3F800001)}
    assert not blamed(f32(0x3F800001), *steps, **operands)
    assert blamed(f32(0x3F800002), *steps, **operands) == "graph.C25"


def test_graph_c10_a_subnormal_number_that_is_not_chosen_opens_nothing() -> None:
    where = alu("x", "where", "c", "a", "b")
    operands = {"a": np.array([1.5], np.float32), "b": np.array([1e-40], np.float32), "c": np.array([True])}
    assert blamed(np.array([-1.5], np.float32), where, numbers=FLUSHED, **operands) == "graph.C10"
    assert not blamed(np.array([1.5], np.float32), where, numbers=FLUSHED, **operands)
    assert not blamed(np.zeros(1, np.float32), where, numbers=FLUSHED, **operands | {"c": np.array([False])})


def test_an_infinity_of_8_bits_is_the_greatest_number_where_conversion_saturates() -> None:
    saturated = number_model({"overflow": {"float8_e5m2": "saturated"}})
    low = np.array([-np.inf], NUMPY["float8_e5m2"])
    product = alu("x", "mul", "a", "a", dtype="float8_e5m2")
    greatest = np.array([57344], NUMPY["float8_e5m2"])
    assert blamed(greatest, product, a=low) == "graph.C8"
    assert not blamed(greatest, product, numbers=saturated, a=low)
    assert blamed(greatest, node("x", "flip", "a", arg=(0,), dtype="float8_e5m2"), numbers=saturated, a=low)


HALVES = [alu("s", "add", "a", "a", dtype="float16"), node("d", "cast", "s")]
LARGE = np.float16([60000.0])
"""A sum that overflows in 16 bits, and its conversion to a dtype in whose range it is."""


def test_what_overflows_in_16_bits_on_the_way_is_free_where_intermediate_values_have_more() -> None:
    given, excess = np.float32([120000.0]), number_model({"intermediates": "excess"})
    assert blamed(given, *HALVES, a=LARGE)
    assert not blamed(given, *HALVES, numbers=excess, a=LARGE)
    assert blamed(given, *HALVES, numbers=excess, a=np.float16([1.0]))


EXCESS = number_model({"intermediates": "excess"})
ODD = np.array([59904.0], NUMPY["bfloat16"])
"""A number of which the sum with 1 is itself in bfloat16, as the next one is 60160."""


def ones(*above: Node) -> tuple[list[Node], dict[str, Array]]:
    one = np.array([1.0], NUMPY["bfloat16"])
    return [alu("s", "add", "a", "b", dtype="bfloat16"), *above], {"a": ODD, "b": one}


def test_a_comparison_of_a_rounded_sum_is_free_where_intermediate_values_have_more() -> None:
    nodes, of = ones(node("x", "alu", "s", "a", dtype="bool", arg="ne"))
    assert blamed(np.array([True]), *nodes, **of)
    assert not blamed(np.array([True]), *nodes, numbers=EXCESS, **of)
    exact = of | {"b": np.array([256.0], NUMPY["bfloat16"])}
    assert blamed(np.array([False]), *nodes, numbers=EXCESS, **exact)


def test_a_rounded_sum_itself_is_rounded_whatever_intermediate_values_have() -> None:
    nodes, of = ones()
    assert not blamed(ODD, *nodes, numbers=EXCESS, **of)
    assert blamed(np.array([60160.0], NUMPY["bfloat16"]), *nodes, numbers=EXCESS, **of)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_is_made_of_a_rounded_sum_keeps_within_its_bound(dtype: str) -> None:
    made = node("x", "cast", "s", dtype=dtype) if dtype == "float32" else alu("x", "max", "s", "a", dtype=dtype)
    nodes, of = ones(made)
    near, far = np.array([60160.0], NUMPY[dtype]), np.array([61440.0], NUMPY[dtype])
    assert blamed(near, *nodes, **of)
    assert not blamed(near, *nodes, numbers=EXCESS, **of)
    assert blamed(far, *nodes, numbers=EXCESS, **of)


def test_a_whole_number_that_16_bits_round_is_free_to_be_compared_unrounded() -> None:
    nodes = [
        node("c", "cast", "a", dtype="bfloat16"),
        node("x", "alu", "c", "b", dtype="bool", arg="ne"),
    ]
    of = {"a": np.array([257], np.int32), "b": np.array([256.0], NUMPY["bfloat16"])}
    assert blamed(np.array([True]), *nodes, **of)
    assert not blamed(np.array([True]), *nodes, numbers=EXCESS, **of)


def test_the_declaration_of_excess_precision_is_named() -> None:
    graph = Graph(nodes=(node("a", "buf", dtype="float16", arg="a"), *HALVES), results=("d",))
    case = GraphCase(graph=graph, buffers={"a": from_array(LARGE)}, rounds=(Round(until=3, asked=("d",)),))
    seen = Observation(results={"0/d": (from_array(np.float32([120000.0])),)})
    found = judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD)
    assert found.detail is not None
    assert found.detail.endswith('declare number_model = {"intermediates": "excess"}')


@pytest.mark.parametrize(("byte", "wrong"), [(0, False), (1, False), (2, True), (255, True)])
def test_a_bool_that_may_be_either_is_the_byte_0_or_1(*, byte: int, wrong: bool) -> None:
    nodes = (node("n", "cast", "a", dtype="int8"), alu("x", "ne", "n", "b", dtype="bool"))
    given = np.array([byte], np.uint8).view(np.bool_)
    assert bool(blamed(given, *nodes, a=np.array([np.nan], np.float32), b=np.zeros(1, np.int8))) == wrong
