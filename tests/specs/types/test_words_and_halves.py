"""Gathers and starts that there are none of, programs outside of any map, and the two halves of a move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.opencl.typed.states import TypeRefusedError, typed
from conformance.cases.case_error import CaseError
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.cases.types.validate import validate
from conformance.judging.typed_comparisons import invariant_along_ones, typed_alike
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.lowering import lowered
from conformance.reference.types.values import evaluate


def program(
    *steps: TypedStep, sizes: tuple[int, ...] = (2, 2), varying: tuple[str, ...] = ("i", "j"), **rest: Any
) -> TypedProgram:
    mesh = tuple(Axis(name=name, size=size) for name, size in zip("ij", sizes, strict=False))
    given = TypedInput(dtype="int32", shape=(2,), varying=varying)
    return TypedProgram(mesh=mesh, inputs={"x": given}, steps=steps, results=(steps[-1].output,), **rest)


def step(op: str, of: str = "x", output: str = "y", axes: tuple[str, ...] = ("i",), **rest: Any) -> TypedStep:
    return TypedStep(op=op, inputs=(of,), output=output, axes=axes, **rest)


def gather(to: str, **rest: Any) -> TypedStep:
    return step("all_gather", attrs={"axis": 0, "tiled": True, "to": to}, **rest)


SCATTER = {"op": "sum", "axis": 0, "tiled": True}
REFUSED = {
    "gather to unreduced": ("types.C17", program(gather("unreduced"))),
    "gather to a word": ("types.C17", program(gather("everywhere"), checked=False)),
    "start to invariant": ("starts.C14", program(gather("invariant", start=True))),
    "outside of any map": ("types.C1", program(step("all_reduce", attrs={"op": "sum"}), mapped=(), varying=())),
    "cast to invariant": ("types.C3", program(step("cast", attrs={"to": "invariant"}))),
    "contributions of groups": (
        "types.C15",
        program(
            step("cast", output="u", attrs={"to": "unreduced"}),
            step("reduce_scatter", of="u", attrs=SCATTER, groups=((0,), (1,))),
        ),
    ),
}
PAIRS = {"pairs": ((0, 1), (1, 0))}
HALVES = (step("send", output="t", attrs=PAIRS), step("recv", of="t", attrs=PAIRS))


@pytest.mark.parametrize("name", REFUSED)
def test_a_word_without_a_meaning_is_refused_by_its_rule_and_by_the_native_checker(name: str) -> None:
    rule, made = REFUSED[name]
    with pytest.raises(IllTyped) as error:
        check(made)
    assert error.value.clause == rule
    with pytest.raises(TypeRefusedError):
        typed(made)


def test_a_send_and_its_recv_are_a_permute() -> None:
    blocks = {"x": [np.array([rank, 10 * rank], np.int32) for rank in range(4)]}
    moved = evaluate(program(step("permute", attrs=PAIRS)), blocks)["y"]
    assert [each.tolist() for each in evaluate(program(*HALVES), blocks)["y"]] == [each.tolist() for each in moved]
    assert check(program(*HALVES, varying=()))["y"] == AxisType(varying=("i",))
    assert [made.op for made in lowered(program(*HALVES))] == ["send", "recv"]
    assert {made.groups for made in lowered(program(*HALVES))} == {
        lowered(program(step("permute", attrs=PAIRS)))[0].groups
    }


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ((step("recv", attrs=PAIRS),), "takes the token of a send"),
        ((HALVES[0], step("recv", of="t", attrs={"pairs": ((0, 0),)})), "names the axes and the pairs of its send"),
        ((HALVES[0], step("add", axes=(), of="t")), "takes"),
        ((HALVES[0],), "is a token"),
    ],
)
def test_a_token_is_taken_by_its_recv_alone(steps: tuple[TypedStep, ...], problem: str) -> None:
    with pytest.raises(CaseError, match=problem):
        validate(program(*steps))


def meaning(made: TypedProgram) -> TypedMeaning:
    return TypedMeaning(TypedCase(program=made, inputs={}), types=check(made))


def test_along_an_axis_of_one_rank_a_type_may_be_left_out() -> None:
    made = meaning(program(step("permute", attrs={"pairs": ((0, 0),)}), sizes=(1, 2)))
    full, short = ({"y": AxisType(varying=axes)} for axes in (("i", "j"), ("j",)))
    assert typed_alike(made, Observation(types=full)) is None
    assert typed_alike(made, Observation(types=short)) is None
    assert "typed" in str(typed_alike(made, Observation(types={"y": AxisType(varying=("i",))})))
    assert invariant_along_ones(made, Observation(types=short)) is None
    assert "has one rank" in str(invariant_along_ones(made, Observation(types=full)))


def test_an_untiled_exchange_counts_the_axis_that_it_inserts() -> None:
    def of(split: int, concat: int, *, tiled: bool) -> Lowered:
        attrs = {"split_axis": split, "concat_axis": concat, "tiled": tiled}
        return lowered(program(step("all_to_all", attrs=attrs)))[0]  # type: ignore[arg-type]

    assert of(0, 1, tiled=False).dimensions == (0, 2, 2)
    assert of(1, 0, tiled=False).dimensions == (2, 0, 2)
    assert of(0, 0, tiled=False).dimensions == (0, 0, 2)
    assert of(1, 0, tiled=True).dimensions == (1, 0, 2)


def test_an_index_stands_where_all_axes_are_mapped_and_others_where_the_program_is() -> None:
    steps = (TypedStep(op="axis_index", inputs=(), output="n", axes=("i",)), step("permute", attrs=PAIRS))
    made = lowered(replace(program(*steps, varying=("i",)), mapped=("i",)))
    assert [each.manual for each in made] == [("i", "j"), ("i",)]
    assert [each.id for each in made] == ["partition", ""]
