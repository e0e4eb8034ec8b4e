"""What the sentence of every clause keeps, so that it can be read alone."""

from __future__ import annotations

import re

import pytest

from conformance.judging.clause import AnyClause
from conformance.runner.dialects import further_clauses
from conformance.specs import every_clause

CLAUSES = {**every_clause(), **further_clauses()}

LONGEST = 50
"""Words of a clause."""


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_a_sentence_is_short_and_uses_no_word_of_a_requirement(clause: AnyClause) -> None:
    assert len(clause.text.split()) <= LONGEST
    assert not re.search(r"\b(may|should|must)\b", clause.text), "the requirement says so"


@pytest.mark.parametrize(
    "clause", [each for each in CLAUSES.values() if each.requirement == "may"], ids=lambda clause: clause.id
)
def test_what_may_be_otherwise_is_not_refused(clause: AnyClause) -> None:
    assert not re.search(r"\b(refused|rejected|refuses|rejects)\b", clause.text)


def test_no_two_clauses_of_an_operation_say_the_same() -> None:
    said = [(clause.id.partition(".")[0], clause.text) for clause in CLAUSES.values()]
    assert len(set(said)) == len(said)


def test_a_clause_that_names_another_names_one_that_exists() -> None:
    for clause in CLAUSES.values():
        named = re.findall(r"`(\w+\.C\d+)`", clause.text)
        assert set(named) <= set(CLAUSES), clause.id
