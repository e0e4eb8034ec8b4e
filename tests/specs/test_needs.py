"""What clauses need of a case: claims without leave out all that a clause is about, whatever a run draws."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from typing import Any

import pytest

from conformance.cases.declarations.terms import Terms
from conformance.judging.clause import Clause
from conformance.runner.claims import left_out
from conformance.runner.dialect import Trial
from conformance.runner.dialects import operations, suites, trial
from conformance.runner.draws import draw_cases
from conformance.runner.plan import Plan
from conformance.specs import OPS, every_clause

LIMITED = {
    "calls",
    "op",
    "reduction",
    "local_axes",
    "tiled",
    "exclusive",
    "effects",
    "faults",
    "meeting",
    "world",
    "size",
}
LIMITED |= {"dtype", "layout", "ndim", "axes", "pairs"}
"""Features that implementations have reasons to limit."""

CHANCE = 1e-8
"""A word that all cases of a clause have by chance, so seldom among others, is one in so many."""


@cache
def drawn(examples: int) -> tuple[tuple[Trial, frozenset[str]], ...]:
    """Return cases of every operation, each with the clauses that it makes speak."""
    names = tuple(name for name in suites() if name != "long")
    found: dict[str, tuple[Trial, frozenset[str]]] = {}
    for op in OPS:
        for draws in Plan((op,), examples, suites=names).draws():
            cases: list[Any] = []
            draw_cases(draws.domain, draws.examples, 5, cases.append)
            for one in filter(None, (trial(case, draws.suite) for case in cases)):
                found[one.name] = (one, frozenset(one.dialect.speaking(one.subject)))
    return tuple(found.values())


def words_of(one: Trial, clause: Clause) -> set[tuple[str, str]]:
    """Return features with words: of the clause's own operation, or of all where it is shared."""
    own = clause.id.partition(".")[0]
    by_op = one.facts.features
    mine = [by_op[own]] if own in by_op and own in OPS else list(by_op.values())
    return {(feature, word) for facts in mine for feature, words in facts.items() for word in words}


def test_every_case_of_a_clause_has_what_it_needs() -> None:
    wrong = {
        (name, feature)
        for one, spoke in drawn(24)
        for name in spoke
        for feature, words in every_clause()[name].needs
        if not words_of(one, every_clause()[name]) & {(feature, word) for word in words}
    }
    assert not wrong


@pytest.mark.slow  # some ten thousand cases
def test_what_all_cases_of_a_clause_have_in_common_is_what_it_needs() -> None:
    """What every legal case of an operation has is left aside: claims without it cover no case at all."""
    others: dict[tuple[str, bool], Counter[tuple[str, str]]] = {}
    total = Counter[tuple[str, bool]]()
    spoken: dict[str, list[tuple[str, set[tuple[str, str]]]]] = {}
    for one, spoke in drawn(80):
        kind = one.facts.op, one.facts.legal
        total[kind] += 1
        counted = others.setdefault(kind, Counter())
        counted.update({pair for facts in one.facts.features.values() for pair in _pairs(facts)})
        for name in spoke:
            spoken.setdefault(name, []).append((one.facts.op, words_of(one, every_clause()[name])))
    missed = set()
    for name, found in spoken.items():
        clause = every_clause()[name]
        if clause.requirement != "must" or not clause.needs or len(dict(clause.needs).get("calls", "")) != 1:
            continue
        legal = dict(clause.needs)["calls"] == ("legal",)
        needed = {feature for feature, _ in clause.needs}
        for feature, word in set.intersection(*(words for _, words in found)):
            shares = [others[op, legal][feature, word] / total[op, legal] for op, _ in found if total[op, legal]]
            if feature in LIMITED - needed and math.prod(shares) < CHANCE:
                missed.add((name, feature, word))
    assert not missed


def _pairs(facts: Any) -> set[tuple[str, str]]:
    return {(feature, word) for feature, words in facts.items() for word in words}


@pytest.mark.parametrize(
    ("clause", "claims", "left"),
    [
        ("broadcast.C3", {"broadcast": {"calls": ["legal"]}}, True),
        ("broadcast.C3", {"broadcast": {"dtype": ["int32"]}}, False),
        ("broadcast.C1", {"broadcast": {"calls": ["illegal"]}}, True),
        ("all_reduce.C7", {"all_reduce": {"op": ["sum", "max"]}}, True),
        ("all_reduce.C7", {"all_reduce": {"reduction": ["sum of float"]}}, True),
        ("all_reduce.C7", {"all_reduce": {"local_axes": []}}, True),
        ("all_reduce.C7", {"all_reduce": {"op": ["mean"], "local_axes": ["given"]}}, False),
        ("collective.C12", {"broadcast": {"world": ["2"]}, "gather": {"world": ["1", "2"]}}, False),
        ("collective.C12", {"broadcast": {"world": ["2"]}, "gather": {"world": ["4"]}}, True),
        ("aliasing.C1", {"broadcast": {}}, True),
        ("aliasing.C1", {"broadcast": {"effects": ["buffer", "into"]}}, False),
        ("liveness.C2", {"broadcast": {"effects": ["buffer"]}}, True),
        ("reduction.C3", {"all_reduce": {"op": ["sum"]}, "broadcast": {}}, True),
        ("reduction.C3", {}, False),
    ],
)
def test_left_out_is_what_claims_exclude_in_every_operation_that_has_the_clause(
    clause: str, claims: Any, left: bool
) -> None:
    assert left_out(clause, every_clause()[clause].needs, list(OPS), claims) is left


def test_clauses_that_are_shared_are_known_by_operation() -> None:
    own = {clause.id for clause in operations()["all_reduce"].own("all_reduce", Terms())}
    assert {"reduction.C3", "all_reduce.C7"} <= own
    assert "broadcast.C3" not in own
