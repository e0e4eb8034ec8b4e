"""Every rule of the five sources has an answer: clauses that exist and speak, or a reason."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.runner.dialects import further_clauses
from conformance.specification.rules import NEVER, RULES, RuleError, read_rows
from conformance.specification.sources_page import PAGE, page
from conformance.specs import every_clause
from conformance.specs.schedules import CLAUSE_BY_ID as OF_SCHEDULES
from conformance.vectors.deck import deck

OPEN: set[str] = set()
"""The rules that have no answer yet: none is hidden."""


def test_every_rule_of_the_five_documents_is_a_row() -> None:
    counted = Counter(rule.id.partition(".")[0] for rule in RULES.values())
    assert counted == {"multi": 51, "parallel": 111, "comm_lowering": 36, "lazy": 49, "rangeify": 58}


def test_every_rule_has_an_answer() -> None:
    answers = Counter(rule.answer for rule in RULES.values())
    assert {rule.id for rule in RULES.values() if rule.answer == "open"} == OPEN
    assert answers["excluded"] <= 13


def test_every_clause_of_a_rule_exists_once() -> None:
    every = every_clause().keys() | further_clauses().keys()
    assert {each for rule in RULES.values() for each in rule.clauses} <= every
    assert all(len(set(rule.clauses)) == len(rule.clauses) for rule in RULES.values())


def test_every_clause_of_a_rule_speaks_in_some_run() -> None:
    tables = deck().tables
    spoke = {tables.clauses[number] for one in deck().cases for part in one.parts for number in part[0]}
    # What a deck's case of a graph becomes as a schedule is each engine's own.
    spoke |= (OF_SCHEDULES.keys() - NEVER.keys()) | {"collective.C29"}  # long blocks, which stay drawn
    assert {each for rule in RULES.values() for each in rule.clauses} - spoke == set()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1 | A sum adds. | psum", "rule it.R1 has the form"),
        ("1 | A sum adds. | psum | ", "rule it.R1 has the form"),
        ("2 | A sum adds. | psum | all_reduce.C1", "numbered '2'"),
        ("1 | A sum adds. | psum | excluded: ", "rule it.R1"),
    ],
)
def test_a_row_without_an_answer_is_named(row: str, problem: str) -> None:
    with pytest.raises(RuleError, match=problem):
        read_rows("it", row)


def test_the_page_is_made_of_the_rules() -> None:
    assert PAGE.read_text() == page(), "python -m conformance.specification.sources_page"
