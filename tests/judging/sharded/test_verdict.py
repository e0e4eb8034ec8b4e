"""What is wrong with parts is said of parts, and what may differ does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.base import Held
from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.declarations.terms import terms
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Layout, Placement, Split
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.tensor import from_array
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.judging.verdict import Verdict
from conformance.reference.graph.slack import radius
from conformance.runner.dialects.sharded import clauses
from conformance.specs.sharded import CLAUSES

ROWS = Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 2, 3)),))
VALUES = np.array([1.0, -0.0, 3.0], np.float32)


def node(id: str, op: str, *of: str, shape: tuple[int, ...] = (3,), **rest: object) -> Node:
    return Node(id=id, op=op, of=of, shape=shape, dtype="float32", device="d0", **rest)  # type: ignore[arg-type]


def case(*nodes: Node, data: Array = VALUES, asked: str = "b", **rest: object) -> ShardedCase:
    every = (replace(node("a", "buf", arg="a", shape=data.shape), dtype=logical(data.dtype)), *nodes)
    of = GraphCase(
        graph=Graph(nodes=every, results=(asked,)),
        buffers={"a": from_array(data)},
        rounds=(Round(until=len(every), asked=(asked,)),),
    )
    return ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=of, homes={"a": ROWS}, **rest)  # type: ignore[arg-type]


COPIED = case(node("b", "copy", "a"), moves={"b": ROWS})


def judged(
    asked: ShardedCase, boxes: list[tuple[int, int]], *parts: Array, partial: dict[str, str] | None = None
) -> Verdict:
    layout = Layout(boxes=tuple((box,) for box in boxes), partial=partial or {})  # type: ignore[arg-type]
    seen = Observation(results={"0/b": tuple(from_array(part) for part in parts)}, layouts={"0/b": layout})
    return judge_sharded(sharded_meaning(asked), seen, CLAUSES, STANDARD)


@pytest.mark.parametrize(
    ("clause", "boxes", "parts"),
    [
        ("sharded.C1", [(0, 2), (2, 3)], (VALUES[:2], VALUES[:2])),
        ("sharded.C2", [(0, 2), (1, 3)], (VALUES[:2], VALUES[1:])),
        ("sharded.C2", [(0, 1), (2, 3)], (VALUES[:1], VALUES[2:])),
        ("sharded.C2", [(0, 2), (2, 4)], (VALUES[:2], VALUES[:2])),
        ("sharded.C3", [(0, 3), (0, 3)], (VALUES, VALUES[::-1].copy())),
        ("sharded.C40", [(0, 3), (0, 3)], (VALUES, VALUES)),
        ("sharded.C35", [(0, 2), (2, 3)], (VALUES[1:], VALUES[:1])),
        ("sharded.C37", [(0, 2), (2, 3)], (np.abs(VALUES[:2]), VALUES[2:])),
    ],
)
def test_a_wrong_part_is_found(clause: str, boxes: list[tuple[int, int]], parts: tuple[Array, ...]) -> None:
    verdict = judged(COPIED, boxes, *parts)
    assert verdict.clauses[clause] == "broken"
    assert verdict.outcome == "failed"


@pytest.mark.parametrize("axes", [(1, 2), (2, 1), (2, 2)])
def test_what_moved_is_not_counted_where_some_box_has_other_axes(axes: tuple[int, int]) -> None:
    boxes = tuple(((0, 2), (0, 1))[:count] for count in axes)
    seen = Observation(
        results={"0/b": tuple(from_array(VALUES[:2]) for _ in axes)}, layouts={"0/b": Layout(boxes=boxes, partial={})},
        moved={"0/b": 1 << 20},
    )  # fmt: skip
    verdict = judge_sharded(sharded_meaning(COPIED), seen, CLAUSES, STANDARD)
    assert (verdict.outcome, verdict.clauses.get("sharded.C43")) == ("failed", None)


def test_a_fold_of_a_constant_has_no_algorithm() -> None:
    one = node("c", "const", arg=from_array(np.array(1, np.float32)))
    folded = case(one, node("b", "reduce", "c", shape=(), arg=(0,), fold="add"))
    verdict = judge_sharded(sharded_meaning(folded), Reference().sharded(folded), CLAUSES, STANDARD)
    assert verdict.outcome == "passed"


def test_a_zero_that_is_split_and_not_moved_keeps_its_sign() -> None:
    kept = case(node("b", "contig", "a"))
    lost = judged(kept, [(0, 2), (2, 3)], np.abs(VALUES[:2]), VALUES[2:])
    assert (lost.outcome, lost.clauses["sharded.C37"], lost.clauses["sharded.C4"]) == ("failed", "broken", "held")


def test_right_parts_pass_and_a_follower_of_the_source_may_lose_the_sign_of_zero() -> None:
    assert judged(COPIED, [(0, 2), (2, 3)], VALUES[:2], VALUES[2:]).outcome == "passed"
    follower = {clause.id: clause.requirement for clause in clauses("sharded", terms(follows=("tinygrad",)))}
    assert follower["sharded.C37"] == "may"


def test_contributions_are_folded_and_a_scalar_added_to_each_of_them_is_found() -> None:
    data = np.array([[1.0, 2.0], [5.0, 7.0], [4.0, 1.0]], np.float32)
    one = node("c", "const", shape=(2,), arg=from_array(np.array(1, np.float32)))
    total = case(
        node("s", "reduce", "a", shape=(2,), arg=(0,), fold="add"),
        one,
        node("b", "alu", "s", "c", shape=(2,), arg="add"),
        data=data,
    )
    right = judged(total, [(0, 2), (0, 2)], data[:2].sum(0) + 1, data[2], partial={"i": "add"})
    wrong = judged(total, [(0, 2), (0, 2)], data[:2].sum(0) + 1, data[2] + 1, partial={"i": "add"})
    assert (right.outcome, wrong.outcome) == ("passed", "failed")


@pytest.mark.parametrize(("divisor", "outcome"), [(3.0, "passed"), (4.0, "failed")])
def test_terms_may_be_divided_one_by_one_where_that_rounds(divisor: float, outcome: str) -> None:
    data = np.array([[1.0], [1.0], [3.0]], np.float32)
    by = node("c", "const", shape=(1,), arg=from_array(np.array(divisor, np.float32)))
    mean = case(
        node("s", "reduce", "a", shape=(1,), arg=(0,), fold="add"),
        by,
        node("b", "alu", "s", "c", shape=(1,), arg="div"),
        data=data,
    )
    near = np.nextafter(np.float32(5 / divisor), np.float32(9), dtype=np.float32)[None]
    assert judged(mean, [(0, 1), (0, 1)], near, near).outcome == outcome


def test_a_step_across_parts_may_be_refused_and_no_other() -> None:
    flipped = case(node("b", "flip", "a", arg=(0,)))

    class Refusing(Reference):
        error: Exception = ValueError("cannot")

        def run_sharded(self, case: ShardedCase) -> dict[str, Held]:
            raise self.error

    for asked, outcome in ((flipped, "passed"), (COPIED, "errored")):
        verdict = judge_sharded(sharded_meaning(asked), Refusing().sharded(asked), CLAUSES, STANDARD)
        assert verdict.outcome == outcome
    refused = judge_sharded(sharded_meaning(flipped), Refusing().sharded(flipped), CLAUSES, STANDARD)
    assert refused.clauses == {"sharded.C9": "held", "sharded.C10": "held", "sharded.C42": "broken"}
    Refusing.error = AttributeError("no such field")
    verdict = judge_sharded(sharded_meaning(flipped), Refusing().sharded(flipped), CLAUSES, STANDARD)
    assert verdict.blame is not None
    assert verdict.blame.id == "sharded.C9"
    assert judge_sharded(sharded_meaning(flipped), Reference().sharded(flipped), CLAUSES, STANDARD).outcome == "passed"


def test_a_nan_that_is_dropped_between_devices_is_recommended_against() -> None:
    data = np.array([1.0, np.nan, 3.0], np.float32)
    greatest = case(node("b", "reduce", "a", shape=(), arg=(0,), fold="max"), data=data)
    for value, clause in ((np.float32(3), "sharded.C38"), (np.float32(np.nan), None)):
        layout = Layout(boxes=((), ()), partial={})
        seen = Observation(results={"0/b": (from_array(value), from_array(value))}, layouts={"0/b": layout})
        verdict = judge_sharded(sharded_meaning(greatest), seen, CLAUSES, STANDARD)
        assert (verdict.blame.id if verdict.blame else None) == clause


def test_what_does_not_fit_is_refused_by_all_or_fails() -> None:
    wrong = replace(COPIED, homes={"a": Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 2, 4)),))})
    subject = sharded_meaning(wrong)
    assert judge_sharded(subject, Reference().sharded(wrong), CLAUSES, STANDARD).outcome == "passed"
    given = Reference().sharded(COPIED)
    assert judge_sharded(subject, given, CLAUSES, STANDARD).clauses["sharded.C7"] == "broken"
    some = replace(Reference().sharded(wrong), errors=(Reference().sharded(wrong).errors[0], None))
    assert judge_sharded(subject, some, CLAUSES, STANDARD).clauses["sharded.C10"] == "broken"


def test_a_pending_sum_of_16_bits_has_a_bound_by_its_devices() -> None:
    parts = np.array([1.0, 2.0, -3.0], ml_dtypes.bfloat16)
    total = replace(node("s", "reduce", "a", shape=(), arg=(0,), fold="add"), dtype="bfloat16")
    least = replace(node("b", "alu", "s", shape=(), arg="abs"), dtype="bfloat16")
    asked = case(total, least, data=parts, moves={"s": Placement(partial={"i": "add"})})
    radii = radius(sharded_meaning(asked).expected["0/b"].slack, parts.sum(keepdims=False))
    assert 0 < float(radii) < 0.5


@pytest.mark.parametrize(("value", "blame"), [(-0.5, ""), (1.5, ""), (24.0, "sharded.C22"), (-96.0, "sharded.C22")])
def test_sharded_c5_a_sum_of_8_bits_that_parts_of_it_may_round(value: float, blame: str) -> None:
    terms = np.array([3.5, -3.5, 0.75], ml_dtypes.float8_e5m2)
    asked = case(replace(node("b", "reduce", "a", shape=(), arg=(0,), fold="add"), dtype="float8_e5m2"), data=terms)
    seen = Observation(
        results={"0/b": (from_array(np.array(value, ml_dtypes.float8_e5m2)),) * 2},
        layouts={"0/b": Layout(boxes=((), ()))},
    )
    found = judge_sharded(sharded_meaning(asked), seen, CLAUSES, STANDARD)
    assert (found.blame.id if found.blame else "") == blame


@pytest.mark.parametrize(
    ("devices", "held"), [((1, 0), "broken"), ((0, 1), None)], ids=["turned", "in the order of the numbers"]
)
def test_sharded_c18_of_parts_that_are_placed_by_number(devices: tuple[int, ...], held: str | None) -> None:
    found = judged(replace(COPIED, devices=devices), [(2, 3), (0, 2)], VALUES[2:], VALUES[:2])
    assert (found.clauses.get("sharded.C18"), found.clauses["sharded.C40"]) == (held, "broken")
    assert judged(replace(COPIED, devices=devices), [(0, 2), (2, 3)], VALUES[:2], VALUES[2:]).outcome == "passed"


@pytest.mark.parametrize(("fold", "held"), [("max", "broken"), ("add", "held")])
def test_sharded_c1_contributions_of_complex_numbers_have_no_maximum(fold: str, held: str) -> None:
    data = np.array([0, 0, 0], np.complex64)
    asked = case(replace(node("b", "copy", "a"), dtype="complex64"), data=data, moves={"b": Placement()})
    assert judged(asked, [(0, 3), (0, 3)], data, data, partial={"i": fold}).clauses["sharded.C1"] == held
