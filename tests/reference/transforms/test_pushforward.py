"""The tangents of a program: what a linear one computes of those of its inputs, and the adjoint of its pullback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.codec import load_typed, save_typed
from conformance.cases.types.typed_case import TypedCase, typed_id
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.cases.types.validate import validate_case
from conformance.reference.transforms.no_rule import NotLinear
from conformance.reference.transforms.pushforward import pushforward

ROWS = ((1, 1), (1, 1))
TABLES = {"input_offsets": ((0, 1), (0, 1)), "send_sizes": ROWS, "output_offsets": ((0, 0), (2, 2)), "recv_sizes": ROWS}


def program(*steps: TypedStep) -> TypedProgram:
    given = TypedInput(dtype="float32", shape=(3,), varying=("i",))
    return TypedProgram(mesh=(Axis(name="i", size=2),), inputs={"x": given, "y": given}, steps=steps, results=("z",))


def blocks(start: float) -> list[np.ndarray]:
    return [np.arange(3, dtype=np.float32) + start + 10 * rank for rank in range(2)]


def test_the_tangent_of_a_product_follows_its_rule() -> None:
    whole = program(TypedStep(op="multiply", inputs=("x", "y"), output="z"))
    x, y, dx, dy = (blocks(start) for start in (1, 2, 3, 4))
    found = pushforward(whole, {"x": x, "y": y}, {"x": dx, "y": dy})["z"]
    assert found[1].tolist() == (x[1] * dy[1] + dx[1] * y[1]).tolist()


def test_the_tangent_of_a_ragged_exchange_has_rows_of_both() -> None:
    whole = program(TypedStep(op="ragged_all_to_all", inputs=("x", "y"), output="z", axes=("i",), attrs=TABLES))
    dx, dy = blocks(100), blocks(500)
    found = pushforward(whole, {"x": blocks(1), "y": blocks(2)}, {"x": dx, "y": dy})["z"]
    assert found[0].tolist() == [dx[0][0], dy[0][1], dx[1][0]]


def test_a_maximum_has_no_tangent() -> None:
    whole = program(TypedStep(op="maximum", inputs=("x", "y"), output="z"))
    with pytest.raises(NotLinear):
        pushforward(whole, {"x": blocks(1), "y": blocks(2)}, {"x": blocks(1), "y": blocks(2)})


def test_a_case_with_tangents_is_stored_and_read_back(tmp_path: Path) -> None:
    given = {name: tuple(map(from_array, blocks(start))) for name, start in (("x", 1), ("y", 2))}
    whole = program(TypedStep(op="add", inputs=("x", "y"), output="z"))
    case = TypedCase(program=whole, inputs=given, tangents=given)
    save_typed(case, tmp_path / "case.json")
    assert load_typed(tmp_path / "case.json") == case
    assert typed_id(case).startswith("pushed+add/")
    with pytest.raises(CaseError, match="there are tangents"):
        validate_case(TypedCase(program=whole, inputs=given, tangents={"x": given["x"]}))
