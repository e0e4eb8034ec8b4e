"""Who has no words for a legal typed program that no claim leaves out has claimed too much."""

from __future__ import annotations

from conformance.cases.observation import Observation, RankError
from conformance.reference.types.meaning import TypedMeaning
from conformance.runner.dialects.types import mean
from conformance.runner.draws import draw_cases
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
