"""Who has no words for a legal typed program that no claim leaves out claimed too much; a framework may say so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.discovery import BackendSpec
from conformance.backends.observing import typed
from conformance.backends.reference import Reference
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Attr, Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.generate.types.data import typed_cases
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.runner.dialects.types import mean
from conformance.runner.draws import draw_cases
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.replay import replay
from conformance.runner.worker.in_process import InProcess
from conformance.specs.types.verdict import judge


def meanings() -> list[TypedMeaning]:
    found: list[TypedMeaning | None] = []
    draw_cases(typed_cases(), 60, 0, lambda case: found.append(mean(case)))
    return [meaning for meaning in found if meaning is not None]


def test_a_refusal_of_a_legal_program_fails_and_of_an_ill_typed_one_is_no_answer() -> None:
    refusal = RankError(kind="NotImplementedError", message="pmin is not implemented", category="unsupported")
    for meaning in meanings():
        judged = judge(meaning, Observation(errors=(refusal,) * meaning.case.program.world))
        assert (judged.outcome, judged.refusal) == (
            ("failed", True) if meaning.refused is None and meaning.no_rule is None else ("unsupported", False)
        )


class Adapts(Reference):
    """Passes on that its framework lacks the rule of a step."""

    follows: ClassVar = ("jax",)

    def typed(self, program: TypedProgram, inputs: Mapping[str, Any]) -> Any:
        """Raise for a program that negates, as JAX does for an unreduced operand."""
        if any(step.op == "negate" for step in program.steps):
            raise NotImplementedError("unreduced rule for neg is not implemented. Please file an issue")
        return super().typed(program, inputs)


def test_what_a_framework_has_not_implemented_is_unsupported_in_a_run_and_alone(tmp_path: Path) -> None:
    worker = InProcess(BackendSpec("it", "", ""), backend=Adapts())
    made = explore(Plan(ops=("typed_program",), suites=("types",), examples=80), {"it": worker}, tmp_path)
    assert made.failures == ()
    lacking = [each for each in meanings() if any(step.op == "negate" for step in each.case.program.steps)]
    assert lacking
    assert {replay(each.case, worker).verdict.outcome for each in lacking} == {"unsupported"}


def two_ranks(*steps: TypedStep, checked: bool = True, **how: Any) -> TypedCase:
    blocks = tuple(from_array(np.array([rank], np.float32)) for rank in (1, 2))
    given = {"x": TypedInput(dtype="float32", shape=(1,), varying=("i",))}
    results = (steps[-1].output,)
    program = TypedProgram(mesh=(Axis("i", 2),), inputs=given, steps=steps, results=results, checked=checked)
    return TypedCase(program=program, inputs={"x": blocks}, **how)


def test_types_c6_and_every_rule_a_process_that_ended_refused_nothing() -> None:
    crash = RankError(kind="Crash", message="signal 11", category="no_answer")
    ill = [meaning for meaning in meanings() if meaning.refused is not None]
    assert ill
    for meaning in ill:
        found = judge(meaning, Observation(errors=(crash,) * meaning.case.program.world), ("jax",))
        rule = str(meaning.refused.clause)  # type: ignore[union-attr]  # all are refused
        assert found.clauses == {"types.C14" if rule == "types.C16" else rule: "broken"}
        assert found.outcome != "passed"


def test_a_started_sum_that_is_typed_varying_breaks_starts_c3() -> None:
    start = TypedStep(op="all_reduce", inputs=("x",), output="s", axes=("i",), attrs={"op": "sum"}, start=True)
    case = two_ranks(start, TypedStep(op="done", inputs=("s",), output="y", attrs={"of": "all_reduce"}))
    seen, right = typed(Reference(), case), mean(case)
    assert right is not None
    wrong = replace(seen, types={name: AxisType(varying=("i",)) for name in seen.types})
    assert [judge(right, each).clauses["starts.C3"] for each in (seen, wrong)] == ["held", "broken"]


def test_a_recorded_difference_of_types_holds_where_lowering_is_asked_for() -> None:
    attrs: dict[str, Attr] = {"op": "mean", "local_axes": (0,)}
    step = TypedStep(op="all_reduce", inputs=("x",), output="y", axes=("i",), attrs=attrs)
    meaning = mean(two_ranks(step, checked=False, lowered=True))
    assert meaning is not None
    seen = Observation(errors=(RankError(kind="ValueError", message="a mean is over names", category="internal"),) * 2)
    followed, plain = judge(meaning, seen, ("jax",)), judge(meaning, seen)
    assert (followed.outcome, followed.clauses) == ("passed", {"lowering.C1": "diverges"})
    assert plain.outcome == "errored"


@pytest.mark.parametrize(("values", "said"), [((-1.0, -2.0), "diverges"), ((-1.0, -1.0), "broken")])
def test_types_c15_who_types_as_jax_does_has_the_values_of_the_steps(values: tuple[float, ...], said: str) -> None:
    greatest = TypedStep(
        op="all_reduce", inputs=("x",), output="m", axes=("i",), attrs={"op": "max"}, groups=((0,), (1,))
    )
    case = two_ranks(greatest, TypedStep(op="negate", inputs=("x",), output="y"))
    meaning = mean(replace(case, program=replace(case.program, results=("m", "y"))))
    assert meaning is not None
    blocks = {"m": (1.0, 1.0), "y": values}  # of what is typed invariant one block is shown
    seen = Observation(
        results={name: tuple(from_array(np.array([each], np.float32)) for each in row) for name, row in blocks.items()},
        types={"m": AxisType(), "y": AxisType(varying=("i",))},
    )
    assert judge(meaning, seen, ("jax",)).clauses == {"types.C15": said}


def test_batches_c1_who_follows_jax_refuses_no_gather_to_invariant_that_is_only_mapped() -> None:
    gather = TypedStep(
        op="all_gather", inputs=("x",), output="y", axes=("i",), attrs={"axis": 0, "tiled": True, "to": "invariant"}
    )
    plain = two_ranks(gather, batch=(Level(name="p", size=1, inputs={"x": 0}),))
    blocks = tuple(from_array(np.ones((1, 1), np.float32)) for _ in range(2))
    case = replace(plain, program=replace(plain.program, automatic=False), inputs={"x": blocks})
    meaning = mean(case)
    assert meaning is not None
    seen = Observation(errors=(RankError(kind="ValueError", message="an axis", category="internal"),) * 2)
    assert judge(meaning, seen, ("jax",)).outcome == "errored"


def test_batches_c11_says_nothing_of_a_program_without_a_rule() -> None:
    start = TypedStep(
        op="all_gather", inputs=("a",), output="s", axes=("q",), attrs={"axis": 0, "tiled": True, "to": "varying"},
        start=True,
    )  # fmt: skip
    program = TypedProgram(
        mesh=(Axis("i", 2),), inputs={"a": TypedInput(dtype="int32", shape=(1,))}, steps=(start,), results=()
    )
    block = from_array(np.zeros((1, 2, 2), np.int32))
    levels = (Level(name="p", size=2, inputs={"a": 2}), Level(name="q", size=2, inputs={"a": 1}))
    meaning = mean(TypedCase(program=program, inputs={"a": (block, block)}, batch=levels))
    assert meaning is not None
    refusal = RankError(kind="NotImplementedError", message="no batching rule", category="invalid_argument")
    assert judge(meaning, Observation(errors=(refusal,) * 2)).clauses == {"starts.C13": "held"}


@pytest.mark.parametrize(("axes", "said"), [(("i",), "held"), (("q",), "held"), (("q", "i"), None)])
def test_batches_c4_is_about_mesh_axes_alone_or_a_level_alone(axes: tuple[str, ...], said: str | None) -> None:
    step = TypedStep(
        op="all_gather", inputs=("x",), output="y", axes=axes, attrs={"axis": 0, "tiled": True, "to": "varying"}
    )
    case = two_ranks(step, checked=False, batch=(Level(name="q", size=2, inputs={"x": 0}),))
    block = from_array(np.array([[1], [2]], np.float32))
    case = replace(case, inputs={"x": (block, block)})
    meaning = mean(case)
    assert meaning is not None
    found = judge(meaning, typed(Reference(), case)).clauses
    assert (found.get("batches.C4"), found.get("batches.C12")) == (said, None if said else "held")
