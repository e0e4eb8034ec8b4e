"""Other operands of a reduction are of every kind of dtype that has it, and have terms or none."""

from __future__ import annotations

from random import Random

import pytest

from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import kind
from conformance.generate.calls.other_operands import other_dtype, other_shape
from conformance.generate.calls.shapes import Shape
from conformance.generate.choices import Draw
from conformance.runner.draws import Numbers

ALL = {"bool", "integer", "float", "complex"}


@pytest.mark.parametrize(
    ("op", "dtype", "shape", "local", "kinds"),
    [
        ("mean", "float32", (2,), (), ALL),
        ("mean", "int32", (2,), (), ALL),
        ("mean", "float32", (2, 3), (1,), {"bool", "integer", "float"}),
        ("mean", "int32", (2, 0), (-1,), ALL),
        ("max", "bool", (2,), (), ALL - {"complex"}),
        ("and", "int8", (2,), (), {"bool", "integer"}),
        ("premul_sum", "complex64", (2,), (), {"float", "complex"}),
        ("and", "float32", (2,), (), ALL),  # which is illegal already
    ],
)
def test_a_reduction_is_drawn_of_operands_of_all_kinds_that_have_it(
    op: str, dtype: str, shape: Shape, local: tuple[int, ...], kinds: set[str]
) -> None:
    draw, attrs = Draw(Numbers(Random(0))), dict[str, Attr](op=op, local_axes=local)
    assert {kind(other_dtype(draw, dtype, attrs, op, shape)) for _ in range(200)} == kinds


@pytest.mark.parametrize(
    ("shape", "local", "shapes"),
    [
        ((2, 3), (-1,), {(2, 3), (2, 0)}),
        ((2, 0), (1,), {(2, 0), (2, 1)}),
        ((2, 3), (2,), {(2, 3)}),  # an axis that it does not have
        ((2, 3), None, {(2, 3), (2, 3, 2)}),
    ],
)
def test_of_two_operands_with_local_axes_one_may_be_empty(
    shape: Shape, local: tuple[int, ...] | None, shapes: set[Shape]
) -> None:
    draw, attrs = Draw(Numbers(Random(0))), dict[str, Attr]({} if local is None else {"local_axes": local})
    assert {other_shape(draw, shape, attrs) for _ in range(50)} == shapes
