"""Which ranks meet when a step is lowered, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.cases.program.program import Axis, Groups
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.types.lowering import lowered


def program(
    operation: str, /, *axes: str, groups: Groups | None = None, mesh: tuple[int, ...] = (2, 2, 2), **attrs: Any
) -> Any:
    given = () if operation == "axis_index" else ("x",)
    step = TypedStep(op=operation, inputs=given, output="y", axes=axes, attrs=attrs, groups=groups)
    named = tuple(Axis(name=name, size=size) for name, size in zip("ijk", mesh, strict=False))
    return TypedProgram(
        mesh=named, inputs={"x": TypedInput(dtype="float32", shape=(8,))}, steps=(step,), results=("y",), checked=False
    )


# As JAX 0.10.2 lowers them.
@pytest.mark.parametrize(
    ("case", "groups"),
    [
        (program("all_reduce", "k", "i", op="sum"), ((0, 4, 1, 5), (2, 6, 3, 7))),
        (
            program("all_reduce", "i", op="sum", mesh=(8,), groups=((0,), (1, 2), (3, 4, 5, 6, 7))),
            ((0, -1, -1, -1, -1), (1, 2, -1, -1, -1), (3, 4, 5, 6, 7)),
        ),
        (program("permute", "j", pairs=((0, 1),)), ((0, 2), (1, 3), (4, 6), (5, 7))),
        (program("all_gather", "k", "j", axis=0, tiled=True, to="varying"), ((0, 2, 1, 3), (4, 6, 5, 7))),
        (program("broadcast", "i", root=1, mesh=(2, 2)), ((2, 0), (3, 1))),
    ],
)
def test_ranks_are_those_that_meet(case: TypedProgram, groups: Groups) -> None:
    (made,) = lowered(case)
    assert made.groups == groups


def test_an_index_is_a_remainder_of_a_quotient() -> None:
    assert [made.index for made in lowered(program("axis_index", "k", "i"))] == [(1, 2, 2), (4, 2, 1)]


def test_a_cast_is_lowered_to_nothing() -> None:
    assert lowered(program("cast", "i", to="varying")) == []
