"""The specification is whole: ids, texts, sources, and a domain that reaches every clause."""

from __future__ import annotations

import re

import numpy as np
import pytest

from conformance.cases.case import Case, case_id
from conformance.generate.operations import DOMAINS as OF_OPERATIONS
from conformance.judging.applicability import applicable
from conformance.judging.clause import Clause
from conformance.qualification.drawn_cases import drawn_cases
from conformance.reference.operations import OPERATIONS
from conformance.reference.spmd import ATTRIBUTES
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import meaning
from conformance.specs import OPS, SHARED, SUITES, clauses_of, every_clause


def test_every_reference_function_is_specified_and_the_other_way_round() -> None:
    assert set(OPS) == set(OPERATIONS) == set(ATTRIBUTES)


def test_clause_ids_are_numbered_without_gaps_under_their_operation() -> None:
    families = {op.name: op.clauses for op in OPS.values()}
    for name in {clause.id.partition(".")[0] for clause in SHARED}:
        families[name] = tuple(clause for clause in SHARED if clause.id.startswith(f"{name}."))
    for name, clauses in families.items():
        assert [clause.id for clause in clauses] == [f"{name}.C{number}" for number in range(1, len(clauses) + 1)]


@pytest.mark.parametrize("clause", every_clause().values(), ids=lambda clause: clause.id)
def test_a_clause_is_one_sentence(clause: Clause) -> None:
    assert re.fullmatch(r"[A-Z(a-z].*\.", clause.text)
    assert "should" not in clause.text, "the requirement says so"
    assert (clause.source == "backend") == (clause.guarantee is not None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_three_hundred_examples_an_operation_reach_every_clause(seed: int) -> None:
    reached: set[str] = set()
    legal: dict[str, list[bool]] = {name: [] for name in OPS}

    def wanting(op: str) -> list[Clause]:
        """Return the clauses not reached yet, and those that may silence others."""
        return [clause for clause in clauses_of(op) if clause.id not in reached or clause.requirement != "must"]

    def sink(case: Case) -> None:
        subject = meaning(case)
        legal[subject.step.op].append(subject.legal)
        if every_clause().keys() - reached:
            reached.update(clause.id for clause in applicable(subject, wanting))

    # Blocks of 64 KiB say nothing of this that short ones do not, and took as long as all others.
    for drawn in drawn_cases(seed, 300, tuple(SUITES.keys() - {"long"}), tuple(OPS)):
        sink(drawn.case)
    assert set(every_clause()) - reached == set()
    assert {name for name, verdicts in legal.items() if not 0.5 < np.mean(verdicts) < 0.95} == set()


def test_the_same_seed_draws_the_same_cases() -> None:
    runs: list[list[str]] = [[], []]
    for run in runs:
        draw_cases(OF_OPERATIONS["permute"], 40, 7, lambda case, run=run: run.append(case_id(case)))
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 20
