"""Number models: who chooses and does not say so dies, who says so passes, and nobody lives by another's words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from conformance.cases.case import Case, digest
from conformance.cases.declarations.number_model import BEYOND, covers
from conformance.cases.declarations.terms import Terms, terms
from conformance.generate.suites import DOMAINS
from conformance.judging.subject import Subject
from conformance.qualification.mutants import number_models
from conformance.qualification.mutants.number_models import _Chooses
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import NONE, meaning, verdict
from conformance.runner.worker.answers import Answer

CHOICES = [value for value in vars(number_models).values() if isinstance(value, type) and issubclass(value, _Chooses)]
CHOICES.remove(_Chooses)
FEW, MANY = 20, 150


@cache
def drawn(seed: int, examples: int) -> tuple[Subject, ...]:
    found: list[Case] = []
    for domain in DOMAINS["numerics"].values():
        draw_cases(domain, examples, seed, found.append)
    subjects = [meaning(case) for case in {digest(case): case for case in found}.values()]
    return tuple(subject for subject in subjects if subject.legal)


@cache
def answers(mutant: type[_Chooses], seed: int, examples: int) -> tuple[Answer, ...]:
    backend = mutant()
    return tuple(Answer(backend.execute(subject.case)) for subject in drawn(seed, examples))


def broken(mutant: type[_Chooses], declared: Terms, seed: int, examples: int) -> Iterator[str]:
    for subject, answer in zip(drawn(seed, examples), answers(mutant, seed, examples), strict=True):
        blame = verdict(subject, answer, declared).blame
        if blame is not None and blame.requirement == "must":
            yield blame.id


@pytest.mark.parametrize("mutant", CHOICES)
def test_what_is_declared_passes(mutant: type[_Chooses]) -> None:
    assert list(broken(mutant, terms(declared=mutant.declared), 0, FEW)) == []


def within(mutant: type[_Chooses], other: type[_Chooses]) -> bool:
    """Return whether the words of one permit, or on these data cannot be told from, what the other chooses.

    Partial results in a format that a wider declared one covers differ from it in no case that was found, nor do terms
    that are divided from terms times an inverse that is rounded to float64.
    """
    mine, theirs = mutant.declared, other.declared
    if mine.items() <= theirs.items() or (mine, theirs) == ({"mean": "divided_terms"}, {"mean": "scaled_terms"}):
        return True
    wide = theirs.get("accumulate")
    if not {mine.get("accumulate"), wide}.isdisjoint(BEYOND):
        return True  # what few terms come to in a wide format is mostly what they come to exactly
    formats = [mine[kind] for kind in ("accumulate", "between") if mine.get(kind, "own") != "own"]
    return (
        wide is not None
        and bool(formats)
        and (mine.get("between") != "own" or "between" in theirs)
        and all(each == wide or covers(wide, each) for each in formats)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mutant", CHOICES)
def test_a_choice_dies_undeclared_and_by_every_other_declaration(mutant: type[_Chooses], seed: int) -> None:
    assert next(broken(mutant, NONE, seed, MANY), None)
    assert list(broken(mutant, terms(declared=mutant.declared), seed, MANY)) == []
    survived = [
        other.__name__
        for other in CHOICES
        if not within(mutant, other) and not next(broken(mutant, terms(declared=other.declared), seed, MANY), None)
    ]
    assert survived == []
