"""Programs of different calls: that they are drawn, where they are filed, and what they shrink to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.cases.case import Case
from conformance.generate.operations import CALLED
from conformance.generate.suites import DOMAINS
from conformance.judging.verdict import Verdict
from conformance.qualification.mutants.in_flight import CommunicatorsCountAlone, OperationsCountAlone
from conformance.runner.dialects.spmd import DIALECT
from conformance.runner.draws import draw_cases, numbered
from conformance.runner.meaning import NONE, all_binding, meaning, verdict
from conformance.runner.plan import Plan
from conformance.runner.shrinking.shrinking import Shrinking
from conformance.runner.worker.answers import Answer
from conformance.specs.suites.asynchrony import unlike_under_way


def drawn(suite: str, op: str) -> list[Case]:
    found: list[Case] = []
    draw_cases(DOMAINS[suite][op], 60, 0, found.append)
    return found


@pytest.mark.parametrize("op", CALLED)
def test_different_calls_are_under_way_and_the_last_is_of_the_operation(op: str) -> None:
    cases = drawn("async", op)
    assert any(unlike_under_way(subject) for subject in map(meaning, cases) if subject.legal)
    assert {case.program.collectives[-1].op for case in (*cases, *drawn("aliasing", op))} == {op}


def _first(suite: str, op: str, fails: Callable[[Case], bool]) -> tuple[Case, int]:
    """Return the first drawn case of at most ten steps that fails, and its number."""
    domain = DOMAINS[suite][op]
    drawn = ((numbered(domain, 0, number)[0], number) for number in range(3000))
    return next((case, at) for case, at in drawn if len(case.program.steps) <= 10 and fails(case))


@pytest.mark.parametrize(
    "mutant", [CommunicatorsCountAlone, pytest.param(OperationsCountAlone, marks=pytest.mark.slow)]
)
def test_a_mistake_about_calls_under_way_together_shrinks_to_two_of_them(mutant: type[CommunicatorsCountAlone]) -> None:
    def ask(case: Case) -> Verdict:
        return verdict(meaning(case), Answer(mutant().execute(case)))

    start, at = _first("async", "all_reduce", lambda case: ask(case).clauses.get("async.C18") == "broken")
    draws = Plan(ops=("all_reduce",), examples=3000).of("async", "all_reduce")
    search = Shrinking(DIALECT, ask(start), all_binding("all_reduce", NONE), ask, late=lambda: False)
    found = search.smallest(start, (draws, at), seed=0)
    assert found.judged.clauses["async.C18"] == "broken"
    assert len(found.case.program.collectives) == 2
