"""Programs of different calls: that they are drawn, where they are filed, and what they shrink to."""

from __future__ import annotations

import random

import hypothesis
import pytest
from hypothesis import HealthCheck, settings

from conformance.cases.case import Case
from conformance.qualification.mutants.in_flight import CommunicatorsCountAlone, OperationsCountAlone
from conformance.runner.draws import draw_cases, strategy
from conformance.runner.meaning import meaning, verdict
from conformance.runner.shrinking.reductions import reductions
from conformance.runner.worker.answers import Answer
from conformance.specs import SUITES
from conformance.specs.domains.calls import CALLED
from conformance.specs.suites.asynchrony import unlike_under_way


def drawn(suite: str, op: str) -> list[Case]:
    found: list[Case] = []
    draw_cases(SUITES[suite].domains[op], 60, 0, found.append)
    return found


@pytest.mark.parametrize("op", CALLED)
def test_different_calls_are_under_way_and_the_last_is_of_the_operation(op: str) -> None:
    cases = drawn("async", op)
    assert any(unlike_under_way(subject) for subject in map(meaning, cases) if subject.legal)
    assert {case.program.collectives[-1].op for case in (*cases, *drawn("aliasing", op))} == {op}


def _meant(case: Case) -> bool:
    try:
        meaning(case)
    except ValueError:  # a reduction may leave out what a later step takes
        return False
    return True


@pytest.mark.parametrize(
    "mutant", [CommunicatorsCountAlone, pytest.param(OperationsCountAlone, marks=pytest.mark.slow)]
)
def test_a_mistake_about_calls_under_way_together_shrinks_to_two_of_them(mutant: type[CommunicatorsCountAlone]) -> None:
    def fails(case: Case) -> bool:
        return verdict(meaning(case), Answer(mutant().execute(case))).clauses.get("async.C18") == "broken"

    quiet = settings(max_examples=3000, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    domain = SUITES["async"].domains["all_reduce"]
    case = hypothesis.find(strategy(domain), fails, settings=quiet, random=random.Random(0))
    while smaller := next((each for each in reductions(case) if _meant(each) and fails(each)), None):
        case = smaller
    assert len(case.program.collectives) == 2
