"""The words that claims and coverage share."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program import feature_words
from conformance.cases.program.features import Features, features
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.reference.reductions import REDUCTIONS

PAIRED: Groups = ((0, 1), (2, 3))


def words(shapes: list[tuple[int, ...]], groups: Groups | None = None, **attrs: Attr) -> Features:
    blocks = tuple(from_array(np.zeros(shape, np.int32)) for shape in shapes)
    step = Step(op="any", inputs=("x",), outputs=("y",), axes=("i",), groups=groups, attrs=attrs)
    program = Program(mesh=(Axis("i", len(shapes)),), steps=(step,), results=("y",))
    return features(Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * len(shapes))}))


@pytest.mark.parametrize(
    ("shapes", "groups", "word"),
    [
        ([(2,)] * 4, None, "alike"),
        ([(2, 3), (2, 3), (2, 3), (5, 3)], PAIRED, "rows"),
        ([(2,), (2,), (2,), (2, 2)], None, "different"),
        ([(2,), (2, 2), (2,), (2, 2)], PAIRED, "different"),
        ([(2,), (2,), (2,), (2, 2)], PAIRED, "apart"),
    ],
)
def test_ranks_differ_in_one_way(shapes: list[tuple[int, ...]], groups: Groups | None, word: str) -> None:
    assert words(shapes, groups)["ranks"] == {word}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((), {"empty"}),
        ((0, 1), {"given"}),
        (((1, 2), ()), {"given", "empty"}),
        (((-1, 0),), {"given", "negative"}),
        ((1, 0, 1), {"given", "repeated"}),
        (((0, 1), (1, 0)), {"given"}),
        (((0, 1), (0, 2)), {"given", "repeated"}),
    ],
)
def test_tuples_are_told_by_what_they_hold(value: Attr, expected: set[str]) -> None:
    assert words([(2,)], sources=value)["sources"] == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((), {"empty", "partial"}),
        (((0, 1), (1, 0)), {"given"}),
        (((0, 1),), {"given", "partial"}),
        (((0, 1), (1, 1)), {"given", "repeated", "partial"}),
    ],
)
def test_pairs_that_leave_a_position_out_are_partial(pairs: Attr, expected: set[str]) -> None:
    assert words([(2,)] * 4, PAIRED, pairs=pairs)["pairs"] == expected


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ((), {"none"}),
        (("i",), {"one"}),
        (("nowhere",), {"one", "invalid"}),
        (("nowhere", "i"), {"several", "invalid"}),
        (("i", "i"), {"several", "invalid"}),
    ],
)
def test_axes_are_told_by_how_many_there_are_and_whether_they_are_right(
    axes: tuple[str, ...], expected: set[str]
) -> None:
    step = Step(op="any", inputs=(), outputs=(), axes=axes)
    program = Program(mesh=(Axis("i", 2), Axis("j", 2)), steps=(step,), results=())
    assert features(Case(program=program, inputs={}))["axes"] == expected


def test_a_root_that_some_groups_lack_is_partial() -> None:
    assert words([(2,)] * 4, ((0, 1, 2), (3,)), root=2)["root"] == {"nonnegative", "partial"}
    assert words([(2,)] * 4, PAIRED, root=1)["root"] == {"nonnegative"}
    assert words([(2,)] * 4, PAIRED, root=2)["root"] == {"nonnegative"}


def test_a_reduction_is_of_a_kind() -> None:
    assert words([(2,)], op="sum")["reduction"] == {"sum of integer"}


def test_whatever_is_no_reduction_is_unknown() -> None:
    assert tuple(REDUCTIONS) == feature_words.REDUCTIONS
    found = words([(2,)], op="mode")
    assert (found["op"], found["reduction"]) == ({"unknown"}, {"unknown of integer"})


@pytest.mark.parametrize(
    ("axes", "groups", "word"),
    [
        (("i", "j"), None, "world"),
        (("i", "j"), ((0, 1, 2, 3),), "world"),
        (("j", "i"), None, "reordered"),
        (("i", "j"), ((1, 0, 2, 3),), "reordered"),
        (("j",), None, "groups"),
        (("i", "j"), ((0, 1), (2, 3)), "groups"),
        (("k",), None, "invalid"),
    ],
)
def test_all_ranks_meet_as_the_world_or_in_groups(axes: tuple[str, ...], groups: Groups | None, word: str) -> None:
    step = Step(op="any", inputs=(), outputs=(), axes=axes, groups=groups)
    program = Program(mesh=(Axis("i", 2), Axis("j", 2)), steps=(step,), results=())
    assert features(Case(program=program, inputs={}))["meeting"] == {word}


@pytest.mark.parametrize(
    ("stop", "stride", "word"),
    [((1, 3), (1, 1), set()), ((2, 2), (1, 1), {"strided"}), ((2, 3), (1, 2), {"strided"}), ((0, 2), (1, 1), set())],
)
def test_a_view_with_gaps_is_strided(stop: tuple[int, int], stride: tuple[int, int], word: set[str]) -> None:
    steps = (
        Step(op="buffer", inputs=("x",), outputs=("b",), axes=()),
        Step(op="view", inputs=("b",), outputs=("v",), axes=(), attrs={"start": (0, 0), "stop": stop, "step": stride}),
        Step(op="any", inputs=("v",), outputs=("y",), axes=("i",)),
    )
    operand = Operand(blocks=(from_array(np.zeros((2, 3), np.int32)),), layouts=("contiguous",))
    case = Case(program=Program(mesh=(Axis("i", 1),), steps=steps, results=("y",)), inputs={"x": operand})
    assert features(case)["layout"] == {"contiguous"} | word
