"""Steps that alone make a value are told by operation and placement, with the bytes that they need to move."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.lowering import lowered
from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.cases.tensor.tensor import from_array
from conformance.judging.sharded.step_outcome import StepSeen
from conformance.judging.sharded.steps import steps_refused
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.qualification.sharded_mutants import Changed
from conformance.qualification.sharded_mutants.steps import FoldsTwiceOver, MovesEverything
from conformance.specs.sharded import CLAUSES

ROWS, COLUMNS = (Placement(splits=(Split(axis=axis, along=("i",), cuts=(0, 2, 4)),)) for axis in (0, 1))


def case(op: str, shape: tuple[int, ...], moves: dict[str, Placement], **rest: object) -> ShardedCase:
    """Return one step of a square whose rows are on two devices."""
    nodes = (
        Node(id="a", op="buf", shape=(4, 4), dtype="float32", device="d0", arg="a"),
        Node(id="b", op=op, of=("a",), shape=shape, dtype="float32", device="d0", **rest),  # type: ignore[arg-type]
    )
    data = from_array(np.arange(16, dtype=np.float32).reshape(4, 4))
    of = GraphCase(
        graph=Graph(nodes=nodes, results=("b",)), buffers={"a": data}, rounds=(Round(until=2, asked=("b",)),)
    )
    return ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=of, homes={"a": ROWS}, moves=moves)


MOVE = case("copy", (4, 4), {"b": COLUMNS})
FOLD = case("reduce", (4,), {}, arg=(0,), fold="add")


@pytest.mark.parametrize(
    ("asked", "op", "made", "moved"),
    [(MOVE, "move", "even, other parts", 32), (FOLD, "fold along the split axis", "whole", 32)],
)
def test_a_step_is_told_with_the_bytes_of_the_model_and_of_the_lowering(
    asked: ShardedCase, op: str, made: str, moved: int
) -> None:
    verdict = judge_sharded(sharded_meaning(asked), Reference().sharded(asked), CLAUSES, STANDARD)
    assert verdict.steps == (StepSeen(op=op, given="even", made=made, found="right", moved=moved, size=64),)
    assert lowered(asked)[1]["0/b"].moved == moved


@pytest.mark.parametrize(("asked", "way"), [(MOVE, MovesEverything), (FOLD, FoldsTwiceOver)])
def test_more_bytes_than_needed_break_a_should(asked: ShardedCase, way: type) -> None:
    verdict = judge_sharded(sharded_meaning(asked), Changed(way).sharded(asked), CLAUSES, STANDARD)
    assert verdict.blame is not None
    assert (verdict.blame.id, verdict.blame.requirement) == ("sharded.C43", "should")


def test_a_refused_case_of_one_step_tells_which_it_was() -> None:
    (step,) = steps_refused(sharded_meaning(MOVE))
    assert (step.op, step.found, step.made) == ("move", "refused", "even, other parts")


@pytest.mark.parametrize(
    ("op", "shape", "arg"),
    [
        ("shrink", (2, 4), ((1, 3), (0, 4))),
        ("pad", (7, 4), ((1, 2), (0, 0))),
        ("stride", (2, 4), (3, 1)),
    ],
)
def test_what_each_device_can_do_alone_moves_nothing(op: str, shape: tuple[int, ...], arg: tuple[object, ...]) -> None:
    assert lowered(case(op, shape, {}, arg=arg))[1]["0/b"].moved == 0


def test_a_tensor_is_turned_round_by_exchanging_parts() -> None:
    assert lowered(case("flip", (4, 4), {}, arg=(0,)))[1]["0/b"].moved == 64
