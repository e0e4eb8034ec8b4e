"""The headline of wrong elements: the general clause, unless the run shows what a particular one is about."""

from __future__ import annotations

import pytest

from conformance.judging.clause import AnyClause, Held
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failure_equivalence import blamable
from conformance.runner.meaning import NONE, all_binding
from conformance.runner.shrinking.headline import headline
from conformance.specs.graphs import CLAUSES as OF_GRAPHS

WRONG = "y on rank 1: 1 of 4 elements differ; element [0] is 1.0 (0x3f800000), expected 0.0 (0x00000000)"


def named(clauses: tuple[AnyClause, ...], id: str) -> AnyClause:
    return next(each for each in clauses if each.id == id)


def failing(clauses: tuple[AnyClause, ...], *ids: str, detail: str = WRONG) -> Verdict:
    broken: dict[str, Held] = dict.fromkeys(ids, "broken")
    return Verdict(outcome="failed", clauses=broken, blame=named(clauses, ids[-1]), detail=detail)


def led(clauses: tuple[AnyClause, ...], general: str, particular: str, *, mine: int, passed: int, others: int) -> str:
    """Return the headline where so many cases of a particular clause fail and pass, and so many others fail."""
    one, other = failing(clauses, general, particular), failing(clauses, general)
    every = [one] * mine + [other] * others
    spoken = {general: mine + passed + others + 20, particular: mine + passed}
    return headline(named(clauses, particular), one, clauses, every, spoken).id


# The six of 22 published and fresh findings whose headline had nothing to do with them: float8 that loses its
# subnormals, excess precision, an exact sum twice, a race, and strided storage.
@pytest.mark.parametrize(
    ("op", "general", "particular"),
    [
        ("scatter", "scatter.C1", "scatter.C4"),
        ("all_reduce", "all_reduce.C1", "numerics.C18"),
        ("reduce_scatter", "reduce_scatter.C1", "reduce_scatter.C4"),
        ("all_reduce", "all_reduce.C1", "reduction.C18"),
        ("scatter", "scatter.C1", "collective.C24"),
        ("scatter", "scatter.C1", "collective.C28"),
    ],
)
def test_a_clause_about_an_argument_leads_only_where_its_cases_fail_and_others_pass(
    op: str, general: str, particular: str
) -> None:
    clauses = all_binding(op, NONE)
    assert led(clauses, general, particular, mine=1, passed=0, others=3) == general
    assert led(clauses, general, particular, mine=1, passed=9, others=0) == general
    assert led(clauses, general, particular, mine=4, passed=0, others=0) == particular
    assert led(clauses, general, particular, mine=4, passed=0, others=1) == general


def test_excess_precision_is_about_no_promotion() -> None:
    general = next(clause.id for clause in OF_GRAPHS if clause.general and clause.requirement == "must")
    assert led(OF_GRAPHS, general, "graph.C23", mine=2, passed=60, others=0) == general


def test_a_refusal_keeps_its_clause() -> None:
    clauses = all_binding("scatter", NONE)
    judged = failing(clauses, "scatter.C1", "scatter.C6", detail="accepted without an error")
    assert headline(named(clauses, "scatter.C6"), judged, clauses, [], {}).id == "scatter.C6"


def test_of_wrong_elements_the_most_particular_clauses_can_be_to_blame() -> None:
    clauses = all_binding("scatter", NONE)
    judged = failing(clauses, "scatter.C1", "collective.C24", "scatter.C4")
    assert {clause.id for clause in blamable(judged, clauses)} == {"collective.C24", "scatter.C4"}
