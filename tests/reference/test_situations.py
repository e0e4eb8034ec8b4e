"""The words of a collective and the classes of steps."""

from __future__ import annotations

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import EFFECTS, Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.reference.operations import OPERATIONS
from conformance.reference.situations import (
    CLASS_OF,
    CLASSES,
    FEATURES,
    extent_word,
    situations,
    trigrams,
)
from conformance.reference.spmd import evaluate


def program(*steps: Step) -> Case:
    block = from_array(np.array([1.0, -0.0, 3.0], np.float32))
    operand = Operand(blocks=(block,) * 4, layouts=("strided",) * 4)
    mesh = (Axis("i", 2), Axis("j", 2))
    return Case(program=Program(mesh=mesh, steps=steps, results=("b",)), inputs={"x": operand})


BUFFER = Step(op="buffer", inputs=("x",), outputs=("b",), axes=())
VIEW = Step(
    op="view", inputs=("b",), outputs=("v",), axes=(), attrs={"start": (2,), "stop": (-1,), "step": (-1,), "order": ()}
)


def words(*steps: Step) -> dict[str, str]:
    case = program(BUFFER, VIEW, *steps)
    read: list[list[object]] = []
    evaluate(case, lambda _, operands: read.append(operands))
    return dict(list(situations(case, read))[-1])  # type: ignore[arg-type]


def test_a_collective_has_one_word_for_every_feature() -> None:
    start = Step(
        op="broadcast", inputs=("v",), outputs=("t",), axes=("j", "i"), attrs={"root": 3}, into=("b",), start=True
    )
    done = Step(op="done", inputs=("t",), outputs=("y",), axes=())
    found = words(start, done)
    assert list(found) == list(FEATURES)
    assert found | {
        "operation": "broadcast", "dtype": "float32", "extent": "undivided", "rank": "1", "layout": "strided",
        "view": "turned", "groups": "none", "axes": "permuted", "world": "4", "members": "4", "root": "last",
        "place": "overlap", "start": "waited", "operands": "one", "after": "view", "turn": "first",
        "values": "negative_zero", "reduction": "none", "factor": "none", "meetings": "one",
    } == found  # fmt: skip


def test_every_operation_has_a_class_and_there_are_twelve() -> None:
    assert FEATURES["operation"] == tuple(OPERATIONS)
    assert set(CLASS_OF) == {*OPERATIONS, *EFFECTS}
    assert len(CLASSES) == 12


def test_three_steps_in_a_row_are_a_trigram() -> None:
    reduce = Step(op="all_reduce", inputs=("v",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    assert list(trigrams(program(BUFFER, VIEW, reduce))) == [("buffer", "view", "reduce")]


def test_extents_are_told_apart_by_members_lanes_and_bytes() -> None:
    found = [extent_word(elements, 4, 2) for elements in (0, 1, 2, 3, 16, 17, 1000, 1 << 14)]
    assert found == ["zero", "one", "small", "undivided", "wide", "remainder", "many", "long"]
