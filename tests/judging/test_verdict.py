"""Verdicts: what is compared, what is blamed, and which outcome it makes."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.judging.cause import first_error
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer, Broken
from conformance.specs import every_clause


def gather(axis: int = 0, groups: Groups | None = None, dtype: str = "int32") -> Case:
    step = Step(
        op="all_gather", inputs=("x",), outputs=("y",), axes=("i",), groups=groups, attrs={"axis": axis, "tiled": True}
    )
    blocks = tuple(from_array(np.array([rank, rank + 2], dtype)) for rank in range(2))
    program = Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)})


def judged(case: Case, seen: Observation) -> Verdict:
    return verdict(meaning(case), Answer(seen))


def error(category: str = "invalid_argument") -> RankError:
    return RankError(kind="ValueError", message="no such axis", category=category)


def test_the_reference_passes_and_the_verdict_names_every_clause_that_speaks() -> None:
    seen = judged(gather(), Reference().execute(gather()))
    assert seen.outcome == "passed"
    assert {"collective.C1", "all_gather.C1", "all_gather.C3"} <= set(seen.clauses)
    assert "all_gather.C2" not in seen.clauses


@pytest.mark.parametrize(
    ("wrong", "detail"),
    [
        (
            np.array([0, 2, 1, 9], np.int32),
            "1 of 4 elements differ; element [3] is 9 (0x00000009), expected 3 (0x00000003)",
        ),
        (np.array([0, 2, 1, 3], np.float32), "dtype is float32, expected int32"),
        (np.array([[0, 2, 1, 3]], np.int32), "shape is [1, 4], expected [4]"),
    ],
)
def test_a_wrong_value_dtype_or_shape_fails_and_says_where(wrong: np.ndarray, detail: str) -> None:
    right = Reference().execute(gather()).results["y"]
    seen = judged(gather(), Observation(results={"y": (right[0], from_array(wrong))}))
    assert (seen.outcome, seen.detail) == ("failed", f"y on rank 1: {detail}")


def test_zeros_of_different_sign_are_different_bits() -> None:
    case = gather(dtype="float32")
    right = Reference().execute(case).results["y"]
    minus = from_array(np.array([-0.0, 2, 1, 3], np.float32))
    assert judged(case, Observation(results={"y": (right[0], minus)})).outcome == "failed"


def test_a_missing_rank_breaks_the_clause_that_every_rank_answers() -> None:
    right = Reference().execute(gather()).results["y"]
    seen = judged(gather(), Observation(results={"y": (right[0], None)}))
    assert seen.clauses["collective.C1"] == "broken"


def test_a_legal_case_that_raises_is_errored() -> None:
    assert judged(gather(), Observation(errors=(error(), error()))).outcome == "errored"


def test_who_has_no_words_for_an_illegal_case_has_not_refused_it() -> None:
    wordless = RankError(kind="Unsupported", message="no axis 1", category="unsupported")
    seen = judged(gather(axis=1), Observation(errors=(wordless, wordless)))
    assert (seen.outcome, seen.clauses, seen.detail) == ("unsupported", {}, "there are no words for it: no axis 1")
    assert judged(gather(axis=0), Observation(errors=(wordless, wordless))).outcome == "errored"
    assert judged(gather(axis=1), Observation(errors=(wordless, error()))).outcome == "failed"


def test_an_illegal_case_wants_an_error_on_every_rank_about_the_argument() -> None:
    case = gather(axis=1)
    assert judged(case, Observation(errors=(error(), error()))).outcome == "passed"
    accepted = judged(case, Reference().execute(gather()))
    assert (accepted.outcome, accepted.blame and accepted.blame.id) == ("failed", "all_gather.C5")
    lopsided = judged(case, Observation(errors=(error(), None)))
    assert lopsided.blame
    assert lopsided.blame.id == "collective.C13"
    internal = judged(case, Observation(errors=(error("internal"),) * 2))
    assert internal.blame
    assert (internal.blame.id, internal.blame.requirement) == ("collective.C14", "should")


def test_collective_c14_says_nothing_of_a_program_that_was_accepted() -> None:
    case = gather(axis=1)
    accepted, refused = (Reference().execute(gather()), Observation(errors=(error(), error())))
    assert [judged(case, seen).clauses.get("collective.C14") for seen in (accepted, refused)] == [None, "held"]


def test_a_touched_input_is_blamed_even_when_values_are_right() -> None:
    right = Reference().execute(gather())
    touch = Touched(input="x", rank=1, index=0, before="00000000", after="01000000")
    seen = judged(gather(), msgspec.structs.replace(right, touched=(touch,)))
    assert seen.blame
    assert seen.blame.id == "collective.C2"


def test_the_most_particular_broken_clause_is_blamed() -> None:
    case = gather(groups=((1, 0),))
    unsorted = Reference().execute(gather())
    assert judged(case, unsorted).clauses["all_gather.C1"] == "broken"
    blame = judged(case, unsorted).blame
    assert blame is not None
    assert blame.id in ("collective.C8", "all_gather.C3")


def test_a_broken_worker_breaks_every_clause_that_speaks() -> None:
    seen = verdict(meaning(gather()), Answer(Broken("crashed", "killed by SIGSEGV")))
    assert (seen.outcome, seen.detail) == ("crashed", "killed by SIGSEGV")
    assert set(seen.clauses.values()) == {"broken"}


def test_where_a_should_settles_the_value_no_must_demands_it() -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    blocks = (from_array(np.array([True])),) * 2
    case = Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)},
    )
    seen = judged(case, Observation(results={"y": blocks}))
    assert seen.blame
    assert (seen.blame.id, seen.blame.requirement) == ("reduction.C11", "should")
    assert "reduction.C1" not in seen.clauses


def one_step(name: str, blocks: list[np.ndarray], **attrs: Attr) -> Case:
    step = Step(op=name, inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs)
    operand = Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * len(blocks))
    return Case(program=Program(mesh=(Axis("i", len(blocks)),), steps=(step,), results=("y",)), inputs={"x": operand})


def answer(*blocks: np.ndarray | None) -> Observation:
    return Observation(results={"y": tuple(None if block is None else from_array(block) for block in blocks)})


def test_what_a_rank_without_a_result_returns_is_ignored() -> None:
    case = one_step("reduce", [np.array([1]), np.array([2])], op="sum", root=1)
    total, anything = np.array([3]), np.array([[7.5, 8.5]], np.float32)
    assert judged(case, answer(None, total)).outcome == "passed"
    assert judged(case, answer(anything, total)).outcome == "passed"
    assert judged(case, answer(total, None)).clauses["collective.C1"] == "broken"
    assert judged(case, answer(None, total + 1)).blame == every_clause()["reduction.C1"]


def with_payload(payload: int) -> np.ndarray:
    return np.array([payload, 0x3F800000], np.uint32).view(np.float32)


@pytest.mark.parametrize("payload", [0x7FC00000, 0xFFC00000, 0x7FC00123, 0x7F800001])
def test_the_nan_of_a_reduction_is_any_nan_and_that_of_a_movement_the_one_that_was_there(payload: int) -> None:
    reduced = one_step("all_reduce", [with_payload(0x7FC00001)], op="max")
    moved = one_step("broadcast", [with_payload(0x7FC00001)], root=0)
    assert judged(reduced, answer(with_payload(payload))).outcome == "passed"
    assert judged(moved, answer(with_payload(0x7FC00001))).outcome == "passed"
    assert judged(moved, answer(with_payload(payload))).outcome == "failed"


@pytest.mark.parametrize(
    ("op", "attrs", "clause"),
    [
        ("all_reduce", {"op": "sum"}, "collective.C21"),
        ("reduce_scatter", {"op": "max", "axis": 0, "tiled": True}, "collective.C21"),
        ("scan", {"op": "sum", "exclusive": False}, "collective.C30"),
    ],
)
@pytest.mark.parametrize(("payload", "held"), [(0x7FC00001, "held"), (0xFFC00001, "broken")])
def test_collective_c21_and_c30_keep_the_bits_of_a_nan(
    op: str, attrs: dict[str, Attr], clause: str, payload: int, held: str
) -> None:
    case = one_step("all_reduce", [with_payload(0x7FC00001)], op="sum")
    step = msgspec.structs.replace(case.program.steps[0], op=op, attrs=attrs, axes=())
    idle = msgspec.structs.replace(case, program=msgspec.structs.replace(case.program, steps=(step,)))
    assert judged(idle, answer(with_payload(payload))).clauses[clause] == held


def test_a_number_is_no_nan_and_a_nan_no_number() -> None:
    case = one_step("all_reduce", [with_payload(0x7FC00001)], op="max")
    assert judged(case, answer(np.array([1, 1], np.float32))).outcome == "failed"
    assert judged(case, answer(np.array([np.nan, np.nan], np.float32))).outcome == "failed"


def test_over_no_axis_and_no_operands_only_their_own_clauses_speak_of_values() -> None:
    case = one_step("all_reduce", [np.array([1])] * 2, op="sum")
    step = msgspec.structs.replace(case.program.steps[0], axes=())
    alone = msgspec.structs.replace(case, program=msgspec.structs.replace(case.program, steps=(step,)))
    seen = judged(alone, answer(np.array([2]), np.array([2])))
    assert {name for name, held in seen.clauses.items() if held == "broken"} == {"collective.C21"}
    step = msgspec.structs.replace(case.program.steps[0], inputs=(), outputs=())
    program = msgspec.structs.replace(case.program, steps=(step,), results=())
    nothing = judged(Case(program=program, inputs={}), Observation())
    assert {"collective.C27", "all_reduce.C1"} & set(nothing.clauses) == {"collective.C27"}


@pytest.mark.parametrize(
    ("dtype", "follows", "broken"),
    [
        ("float32", (), ["collective.C18"]),
        ("float32", ("jax",), ["collective.C18"]),
        ("bfloat16", (), ["collective.C18"]),
        ("bfloat16", ("jax",), []),
    ],
)
def test_another_nan_breaks_the_clause_on_movement_alone(dtype: str, follows: tuple[str, ...], broken: object) -> None:
    step = Step(op="all_gather", inputs=("x",), outputs=("y",), axes=("j", "i"), attrs={"axis": 0, "tiled": True})
    mesh = (Axis(name="i", size=2), Axis(name="j", size=1))
    quieted = from_array(np.full(2, np.nan).astype(NUMPY[dtype]))
    payload = to_array(quieted)[:1].copy()
    payload.view(np.uint8)[0] ^= 1
    inputs = {"x": Operand(blocks=(from_array(payload),) * 2, layouts=("contiguous",) * 2)}
    case = Case(program=Program(mesh=mesh, steps=(step,), results=("y",)), inputs=inputs)
    seen = Answer(Observation(results={"y": (quieted, quieted)}))
    found = verdict(meaning(case), seen, Terms(follows=frozenset(follows)))
    assert [name for name, word in found.clauses.items() if word == "broken"] == broken


def test_who_only_heard_of_the_end_of_another_says_nothing_of_the_cause() -> None:
    heard = RankError(kind="RuntimeError", message="Connection closed by peer [127.0.0.1]", category="internal")
    raised = RankError(kind="ValueError", message="no such axis", category="invalid_argument")
    assert first_error((heard, None, raised)) == (2, raised)
    assert first_error((heard, heard)) == (0, heard)
