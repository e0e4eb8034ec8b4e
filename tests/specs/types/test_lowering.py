"""An index along an axis of one rank is 0, and may be left out of what is lowered."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import typed_meaning
from conformance.reference.types.lowering import lowered
from conformance.specs.types.verdict import judge

PROGRAM = TypedProgram(
    mesh=(Axis(name="i", size=1), Axis(name="j", size=2), Axis(name="k", size=3)),
    inputs={"a": TypedInput(dtype="float32", shape=(2,))},
    steps=(
        TypedStep(op="axis_index", inputs=(), output="u", axes=("i", "k"), attrs={}),
        TypedStep(op="axis_index", inputs=(), output="v", axes=("j",), attrs={}),
        TypedStep(op="all_reduce", inputs=("a",), output="s", axes=("j",), attrs={"op": "sum"}),
    ),
    results=("u", "v", "s"),
)
MEANING = typed_meaning(
    TypedCase(program=PROGRAM, inputs={"a": (from_array(np.ones(2, np.float32)),) * 6}, lowered=True)
)


@pytest.mark.parametrize(
    ("kept", "blame"),
    [
        ([0, 1, 2, 3], None),
        ([1, 2, 3], None),
        ([1, 0, 2, 3], None),
        ([2, 1, 3], "lowering.C6"),
        ([0, 2, 3], "lowering.C1"),
    ],
)
def test_c1_only_the_term_of_one_rank_may_be_left_out(kept: list[int], blame: str | None) -> None:
    made = lowered(PROGRAM)
    verdict = judge(MEANING, Observation(lowered=tuple(made[number] for number in kept)))
    assert (verdict.blame and verdict.blame.id) == blame


@pytest.mark.parametrize(
    ("groups", "blame"),
    [
        (((0, 3), (1, 4), (2, 5)), None),
        (((5, 2), (0, 3), (4, 1)), None),
        (((0, 3, 0), (1, 4, 1), (2, 5, 2)), "lowering.C2"),
        (((0, 3), (1, 4), (2, 5), (3, 0)), "lowering.C2"),
        (((0, 3, -1), (1, 4, -1), (2, 5, -1)), "lowering.C2"),
    ],
)
def test_c2_each_rank_stands_once_in_one_group(groups: tuple[tuple[int, ...], ...], blame: str | None) -> None:
    made = lowered(PROGRAM)
    verdict = judge(MEANING, Observation(lowered=(*made[:-1], replace(made[-1], groups=groups))))
    assert (verdict.blame and verdict.blame.id) == blame


@pytest.mark.parametrize(
    ("manual", "blame"),
    [(("i", "j", "k"), None), (("j", "k"), None), (("i", "k"), "lowering.C20"), ((), "lowering.C20")],
)
def test_c20_nothing_need_be_mapped_over_an_axis_of_one_rank(manual: tuple[str, ...], blame: str | None) -> None:
    made = tuple(replace(each, manual=manual) for each in lowered(PROGRAM))
    verdict = judge(MEANING, Observation(lowered=made))
    assert (verdict.blame and verdict.blame.id) == blame


@pytest.mark.parametrize("rows", [((), (1, 4), (2, 5)), ((0,), (1, 4), (2, 5)), ((0, 3), (1, 4), (2, 5), ())])
def test_c10_a_group_that_is_empty_or_names_the_root_alone(rows: tuple[tuple[int, ...], ...]) -> None:
    step = TypedStep(op="broadcast", inputs=("a",), output="s", axes=("j",), attrs={"root": 0})
    program = replace(
        PROGRAM, inputs={"a": replace(PROGRAM.inputs["a"], varying=("j",))}, steps=(step,), results=("s",)
    )
    inputs = {"a": (from_array(np.ones(2, np.float32)),) * 6}
    meaning, made = typed_meaning(TypedCase(program=program, inputs=inputs, lowered=True)), lowered(program)
    verdict = judge(meaning, Observation(lowered=(replace(made[0], groups=rows),)))
    assert judge(meaning, Observation(lowered=made)).blame is None
    assert (verdict.blame and verdict.blame.id) == "lowering.C10"


def test_of_operations_that_are_others_nothing_is_said() -> None:
    made = tuple(replace(each, groups=(), global_ids=False) for each in lowered(PROGRAM))
    asked = {id for id in judge(MEANING, Observation(lowered=made)).clauses if id in ("lowering.C2", "lowering.C8")}
    verdict = judge(MEANING, Observation(lowered=(*made, made[-1])))
    assert asked == {"lowering.C2", "lowering.C8"}
    assert verdict.clauses == {"lowering.C1": "broken"}


def test_c4_says_nothing_of_an_all_to_all_of_one_member_that_came_to_nothing() -> None:
    attrs = {"split_axis": 0, "concat_axis": 0, "tiled": True}
    step = TypedStep(op="all_to_all", inputs=("a",), output="s", axes=("i",), attrs=attrs)
    given = replace(PROGRAM.inputs["a"], varying=("i",))
    program = replace(PROGRAM, inputs={"a": given}, steps=(step,), results=("s",))
    inputs = {"a": (from_array(np.ones(2, np.float32)),) * 6}
    meaning = typed_meaning(TypedCase(program=program, inputs=inputs, lowered=True))
    there, nothing = (judge(meaning, Observation(lowered=made)).clauses for made in (lowered(program), ()))
    assert (there["lowering.C4"], "lowering.C4" in nothing, nothing["lowering.C1"]) == ("held", False, "held")
