"""Who has no words for a legal typed program that no claim leaves out claimed too much; a framework may say so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.observation import Observation, RankError
from conformance.cases.types.typed_program import TypedProgram
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.runner.dialects.types import mean
from conformance.runner.draws import draw_cases
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.replay import replay
from conformance.runner.worker.in_process import InProcess
from conformance.specs.types.data import typed_cases
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
