"""Gradients through collectives of Torch, mapped programs, and placements as types."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.observing import typed
from conformance.backends.torch import Torch, TorchFunctional
from conformance.cases.program.program import Attr, Axis, Groups
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import typed_meaning
from conformance.specs.types.verdict import judge

GATHER: dict[str, Attr] = {"axis": 0, "tiled": True, "to": "varying"}


def case(op: str, attrs: dict[str, Attr], out: tuple[int, ...], groups: Groups | None = None) -> TypedCase:
    step = TypedStep(op=op, inputs=("a",), output="b", axes=("i",), attrs=attrs, groups=groups)
    program = TypedProgram(
        mesh=(Axis(name="i", size=2),),
        inputs={"a": TypedInput(dtype="float32", shape=(2, 2), varying=("i",))},
        steps=(step,),
        results=("b",),
        checked=False,
    )
    return TypedCase(program=program, inputs={"a": blocks((2, 2))}, cotangents={"b": blocks(out)})


def blocks(shape: tuple[int, ...]) -> tuple[Tensor, ...]:
    numbers = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return tuple(from_array(numbers + rank) for rank in range(2))


@pytest.mark.parametrize(
    "pulled",
    [
        case("all_reduce", {"op": "sum"}, (2, 2)),
        case("all_gather", GATHER, (4, 2)),
        case("reduce_scatter", {"op": "sum", "axis": 0, "tiled": True}, (1, 2)),
        case("all_reduce", {"op": "sum"}, (2, 2), ((1, 0),)),
    ],
    ids=("sum", "gather", "scatter", "sum of one"),
)
def test_gradients_are_the_transposes(torch: Torch, functional: TorchFunctional, pulled: TypedCase) -> None:
    meaning = typed_meaning(pulled)
    assert [judge(meaning, typed(each, pulled)).outcome for each in (torch, functional)] == ["passed", "passed"]


def test_a_broadcast_of_nn_sends_gradients_to_its_root(torch: Torch) -> None:
    pulled = case("broadcast", {"root": 1}, (2, 2))
    assert judge(typed_meaning(pulled), typed(torch, pulled)).outcome == "passed"


def test_what_a_rank_raises_is_told_as_its_own(torch: Torch) -> None:
    odd = case("all_gather", {"axis": 5, "tiled": True, "to": "varying"}, (2, 4))
    error = typed(torch, odd).errors[0]
    assert error is not None
    assert (error.kind, error.category) == ("IndexError", "invalid_argument")


def steps(*made: TypedStep) -> TypedCase:
    """Return a case of two rows a rank, over a mesh of two ranks, whose results are all values."""
    program = TypedProgram(
        mesh=(Axis(name="i", size=2),),
        inputs={"a": TypedInput(dtype="float32", shape=(2, 2), varying=("i",))},
        steps=made,
        results=tuple(step.output for step in made),
    )
    return TypedCase(program=program, inputs={"a": blocks((2, 2))})


def of_a(kind: str, output: str, **attrs: Attr) -> TypedStep:
    return TypedStep(op=kind, inputs=("a",), output=output, axes=("i",), attrs=attrs)


def test_a_partial_placement_is_unreduced(torch: Torch) -> None:
    asked = steps(
        of_a("cast", "b", to="unreduced"),
        TypedStep(op="add", inputs=("b", "b"), output="c"),
        TypedStep(op="all_reduce", inputs=("c",), output="d", axes=("i",), attrs={"op": "sum"}),
        TypedStep(
            op="reduce_scatter", inputs=("c",), output="e", axes=("i",), attrs={"op": "sum", "axis": 1, "tiled": True}
        ),
    )
    seen = typed(torch, asked)
    assert [seen.types[name].state("i") for name in "bcde"] == ["unreduced", "unreduced", "invariant", "varying"]
    assert judge(typed_meaning(asked), seen).outcome == "passed"


def test_a_mean_divides_what_is_pending(torch: Torch) -> None:
    mean = TypedStep(op="all_reduce", inputs=("b",), output="c", axes=("i",), attrs={"op": "mean"})
    asked = steps(of_a("cast", "b", to="unreduced"), mean)
    assert judge(typed_meaning(asked), typed(torch, asked)).outcome == "passed"


def test_placements_follow_gathers_and_exchanges(torch: Torch) -> None:
    asked = steps(
        of_a("all_gather", "b", axis=1, tiled=False, to="invariant"),
        of_a("all_gather", "c", axis=0, tiled=True, to="varying"),
        of_a("all_to_all", "d", split_axis=1, concat_axis=0, tiled=True),
        of_a("all_reduce", "e", op="max"),
        TypedStep(op="subtract", inputs=("a", "e"), output="f"),
    )
    assert judge(typed_meaning(asked), typed(torch, asked)).outcome == "passed"


def test_vmap_maps_local_steps_over_two_levels(functional: TorchFunctional) -> None:
    program = TypedProgram(
        mesh=(Axis(name="i", size=2),),
        inputs={name: TypedInput(dtype="float32", shape=(2,), varying=("i",)) for name in "ab"},
        steps=(TypedStep(op="subtract", inputs=("a", "b"), output="c"),),
        results=("c",),
        checked=False,
    )
    outer, inner = Level(name="p", size=3, inputs={"a": 0}, result=1), Level(name="q", size=2, inputs={"b": 1})
    mapped = TypedCase(program=program, inputs={"a": blocks((3, 2)), "b": blocks((2, 2))}, batch=(outer, inner))
    assert judge(typed_meaning(mapped), typed(functional, mapped)).outcome == "passed"
