"""What is settled of complex products and quotients, which no source says how to round."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.values import beyond, off
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.evaluate import BoundedValue, evaluate
from conformance.reference.graph.rounding_operations import open_cast
from conformance.reference.graph.slack import radius


def meant(op: str, left: list[complex], right: list[complex]) -> BoundedValue:
    """Return what an operation on two vectors of complex64 means."""
    held = {name: from_array(np.array(values, np.complex64)) for name, values in (("a", left), ("b", right))}
    leaves = [Node(id=name, op="buf", shape=(len(left),), dtype="complex64", device="d", arg=name) for name in held]
    made = Node(id="y", op="alu", of=("a", "b"), shape=(len(left),), dtype="complex64", device="d", arg=op)
    graph = Graph(nodes=(*leaves, made), results=("y",))
    return evaluate(GraphCase(graph=graph, buffers=held, rounds=(Round(until=3, asked=("y",)),)))["0/y"]


def given(value: complex) -> str | None:
    """Return what is wrong with a value given for (0.1 + 0.7j) * (1.3 - 2.9j)."""
    of = meant("mul", [0.1 + 0.7j], [1.3 - 2.9j])
    tensor = from_array(np.array([value], np.complex64))
    return off(of, tensor, STANDARD) or beyond(of, tensor, STANDARD)


def test_parts_that_round_once_more_or_less_are_right_and_one_that_is_far_is_not() -> None:
    assert given(2.16 + 0.62j) is None
    assert given(2.16 + 0.62j + 2e-7) is None
    assert given(2.1601 + 0.62j) is not None
    assert given(2.16 - 0.62j) is not None


@pytest.mark.parametrize(("op", "left", "right"), [("mul", 2 + 1j, 3 - 4j), ("div", 10 - 5j, 2 + 0j), ("add", 1j, 0.1)])
def test_one_value_is_right_where_every_way_is_exact(op: str, left: complex, right: complex) -> None:
    of = meant(op, [left], [right])
    other = of.array + np.spacing(np.abs(of.array))
    assert off(of, from_array(of.array), STANDARD) is None
    assert off(of, from_array(other.astype(np.complex64)), STANDARD) is not None


def test_the_sign_of_a_part_that_is_zero_is_free_and_a_product_with_infinity_is_open() -> None:
    assert (
        off(meant("mul", [1 + 1j], [1 + 1j]), from_array(np.array([complex(-0.0, 2)], np.complex64)), STANDARD) is None
    )
    endless = meant("mul", [complex(np.inf, 1)], [1j])
    assert off(endless, from_array(np.array([complex(np.nan, np.nan)], np.complex64)), STANDARD) is None


@pytest.mark.parametrize(("factor", "open_"), [(-3e38j, True), (-3j, False)])
def test_a_fold_of_a_nan_is_open_where_its_factors_may_overflow(factor: complex, open_: bool) -> None:
    terms = np.array([-2.5j, complex(np.nan, factor.imag), -2.5], np.complex64)
    leaf = Node(id="a", op="buf", shape=(3,), dtype="complex64", device="d", arg="a")
    made = Node(id="y", op="reduce", of=("a",), shape=(), dtype="complex64", device="d", arg=(0,), fold="mul")
    graph = Graph(nodes=(leaf, made), results=("y",))
    case = GraphCase(graph=graph, buffers={"a": from_array(terms)}, rounds=(Round(until=2, asked=("y",)),))
    found = off(evaluate(case)["0/y"], from_array(np.array(complex(np.inf, np.inf), np.complex64)), STANDARD)
    assert (found is None) == open_


def test_a_product_with_a_rounded_reciprocal_is_right_beside_the_exact_quotient() -> None:
    of = meant("div", [8 + 11j], [1 + 6j])
    assert of.array.tolist() == [2 - 1j]
    for value, near in ((complex(2 - 2**-23, -1 + 2**-24), True), (2.001 - 1j, False)):
        tensor = from_array(np.array([value], np.complex64))
        assert ((off(of, tensor, STANDARD) or beyond(of, tensor, STANDARD)) is None) == near


@pytest.mark.parametrize("op", ["mul", "div"])
def test_the_bound_holds_for_the_textbook(op: str) -> None:
    random = np.random.default_rng(0)
    a, b = (random.normal(size=(500, 2)).astype(np.float32).view(np.complex64)[:, 0] for _ in range(2))
    of = meant(op, list(a), list(b))
    square = np.float32(1) if op == "mul" else b.real * b.real + b.imag * b.imag
    c = b if op == "mul" else b.conj()
    real, imaginary = a.real * c.real - a.imag * c.imag, a.real * c.imag + a.imag * c.real
    textbook = np.asarray(real / square, complex) + 1j * np.asarray(imaginary / square, complex)
    assert (np.abs(textbook - of.array.astype(complex)) <= radius(of.slack, of.array)).all()
    exact = [_exact(op, complex(x), complex(y)) for x, y in zip(a, b, strict=True)]
    assert (np.abs(np.array(exact) - of.array.astype(complex)) <= radius(of.slack, of.array) / 2).all()


def _exact(op: str, x: complex, y: complex) -> complex:
    a, b, c, d = (Fraction(each) for each in (x.real, x.imag, y.real, y.imag))
    if op == "mul":
        return complex(float(a * c - b * d), float(a * d + b * c))
    square = c * c + d * d
    return complex(float((a * c + b * d) / square), float((b * c - a * d) / square))


@pytest.mark.parametrize(("value", "there", "expected"), [(15, "int4", -1), (7, "int4", 7), (9, "uint2", 1)])
def test_integers_of_few_bits_become_others_by_their_lowest_bits(value: int, there: str, expected: int) -> None:
    assert int(cast(cast(np.array([value]), "uint4"), there)[0]) == expected


def test_a_complex_number_is_true_unless_it_is_zero_and_an_imaginary_one_is_open() -> None:
    values = np.array([0, 1, 1j, 2 - 3j], np.complex64)
    assert cast(values, "bool").tolist() == [False, True, True, True]
    assert open_cast(values, "bool").tolist() == [False, False, True, False]
    assert cast(values, "float16").tolist() == [0, 1, 0, 2]


def test_products_of_a_scan_are_open_where_they_round_and_its_first_member_is_not() -> None:
    held = {name: from_array(np.array([0.1 + 0.7j], np.complex64)) for name in ("a", "b", "c")}
    devices = tuple(f"d{at}" for at in range(3))
    like = {"shape": (1,), "dtype": "complex64"}
    leaves = [Node(id=name, op="buf", device=at, arg=name, **like) for name, at in zip(held, devices, strict=True)]
    attrs = {"op": "product", "exclusive": False}
    made = [
        Node(id=f"y{at}", op="collective", of=tuple(held), device=at, arg="scan", attrs=attrs, members=devices, **like)
        for at in devices
    ]
    graph = Graph(nodes=(*leaves, *made), results=tuple(each.id for each in made))
    rounds = (Round(until=6, asked=graph.results),)
    found = evaluate(GraphCase(graph=graph, buffers=held, rounds=rounds))
    near = [from_array(found[f"0/y{at}"].array * np.complex64(1 + 1e-6)) for at in devices]
    wrong = [off(found[f"0/y{at}"], each, STANDARD) is not None for at, each in zip(devices, near, strict=True)]
    assert wrong == [True, False, False]
