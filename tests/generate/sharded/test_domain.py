"""Drawn sharded cases are well formed, and the model of parts gives what they mean."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.sharded.codec import load_sharded, save_sharded
from conformance.cases.sharded.validate import validate_sharded
from conformance.generate.domains import SHARDED
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.runner.dialects.sharded import DIALECT
from conformance.runner.draws import numbered
from conformance.runner.reductions.sharded import sharded_reductions
from conformance.specs.sharded import CLAUSES


def test_the_model_of_parts_agrees_with_the_oracle_on_whole_tensors() -> None:
    spoken: set[str] = set()
    for number in range(250):
        case, _ = numbered(SHARDED, 3, number)
        subject = sharded_meaning(case)
        assert bool(validate_sharded(case)) == (not subject.legal)
        verdict = judge_sharded(subject, Reference().sharded(case), CLAUSES, STANDARD)
        assert verdict.outcome == "passed", verdict.detail
        spoken.update(verdict.clauses)
    assert {clause.id for clause in CLAUSES if clause.requirement == "must"} - spoken <= {"sharded.C36"}


def test_the_draws_of_a_run_meet_most_pairs_triples_and_trigrams() -> None:
    met = DIALECT.counting()
    for number in range(150):
        met.add(sharded_meaning(numbered(SHARDED, 1, number)[0]))
    pairs, triples, trigrams = met.measured().values()
    assert pairs.met > 0.85 * pairs.feasible, pairs.holes
    assert triples.met > 0.5 * triples.feasible
    assert trigrams.met > 0.1 * trigrams.feasible


@pytest.mark.parametrize("seed", [6, 11])
def test_a_run_has_every_kind_of_refusal(seed: int) -> None:
    found = Counter(
        clause
        for number in range(150)
        for clause in DIALECT.speaking(sharded_meaning(numbered(SHARDED, seed, number)[0]))
        if clause in ("sharded.C6", "sharded.C7", "sharded.C8", "sharded.C53", "sharded.C54", "sharded.C55")
    )
    assert len(found) == 6


def test_no_case_is_asked_to_make_a_clause_speak_that_only_answers_do() -> None:
    musts = {clause.id for clause in CLAUSES if clause.requirement == "must"}
    assert musts - DIALECT.expected(("sharded",), ("sharding",)) == {"sharded.C44"}
    case, _ = numbered(SHARDED, 3, 2)
    verdict = judge_sharded(sharded_meaning(case), Reference().sharded(case), CLAUSES, STANDARD)
    assert verdict.clauses["sharded.C44"] == "held"


def test_every_case_has_a_file_and_words(tmp_path: Path) -> None:
    for number in range(30):
        case, _ = numbered(SHARDED, 4, number)
        save_sharded(case, tmp_path / "case.json")
        assert load_sharded(tmp_path / "case.json") == case
        words = DIALECT.facts(sharded_meaning(case)).features["sharded"]
        assert all(found <= set(DIALECT.features[name]) for name, found in words.items())


def test_listed_reductions_are_smaller_or_malformed() -> None:
    smaller = 0
    for number in range(3):
        case, _ = numbered(SHARDED, 5, number)
        for reduced in sharded_reductions(case):
            try:
                sharded_meaning(reduced)
            except (ValueError, KeyError, IndexError, TypeError):
                continue
            smaller += DIALECT.size(reduced) < DIALECT.size(case)
    assert smaller > 100
