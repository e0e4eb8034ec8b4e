"""Guarantees: who gives one is held to it, and of everybody else it is only told."""

from __future__ import annotations

import pytest

from conformance.backends.protocol import Ready
from conformance.cases.declarations.guarantees import check_guarantees
from conformance.cases.declarations.terms import terms
from conformance.judging.verdict import Verdict, judge
from conformance.qualification.mutants.determinism import AddsInOrderOfArrival, EveryRankBeginsWithItself
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import bound, meaning
from conformance.specs import SUITES


def breaking(guarantees: frozenset[str]) -> list[Verdict]:
    """Return the verdicts on cases in which the ranks do not agree."""
    found: list[Verdict] = []
    backend = EveryRankBeginsWithItself()
    clauses = bound(terms(guarantees))
    domain = SUITES["determinism"].domains["all_reduce"]
    draw_cases(domain, 10, 0, lambda case: found.append(judge(meaning(case), backend.execute(case), clauses)))
    return [judged for judged in found if judged.clauses.get("determinism.C1") == "broken"]


def test_a_law_that_nobody_guarantees_is_told_and_fails_nothing() -> None:
    seen = breaking(frozenset())
    assert seen
    assert all((judged.outcome, judged.blame) == ("passed", None) for judged in seen)


def test_a_law_that_is_guaranteed_is_a_must() -> None:
    seen = breaking(frozenset({"ranks_agree"}))
    assert seen
    for judged in seen:
        assert judged.outcome == "failed"
        assert judged.blame is not None
        assert (judged.blame.id, judged.blame.requirement) == ("determinism.C1", "must")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("speed",), "unknown guarantee 'speed'; known are ranks_agree, size,"),
        (("run_to_run", "size"), "the guarantee 'size' means nothing without 'position'; give both or neither"),
    ],
)
def test_a_guarantee_that_is_none_or_stands_alone_is_refused(given: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Ready(protocol=1, name="acme", description={}, claims={}, guarantees=given)


def test_a_mutant_gives_what_it_breaks() -> None:
    check_guarantees(AddsInOrderOfArrival().guarantees)
    assert "run_to_run" in AddsInOrderOfArrival().guarantees
