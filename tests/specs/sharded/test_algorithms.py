"""The bits of a fold over devices say which algorithm of the source made it, and each is right."""

from __future__ import annotations

import pytest

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.observation import Observation, RankError
from conformance.generate.sharded.folds import folds
from conformance.judging.sharded.fold_algorithms import WAYS
from conformance.judging.sharded.subject import ShardedSubject, sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.qualification.sharded_mutants import Changed
from conformance.runner.draws import numbered
from conformance.specs.sharded import CLAUSES


@pytest.mark.parametrize(("name", "right", "wrong"), [("naive", 51, 52), ("ring", 52, 51)])
def test_folds_tell_the_algorithms_apart(name: str, right: int, wrong: int) -> None:
    told = 0
    for number in range(20):
        case, _ = numbered(folds(), 0, number)
        seen = Changed(WAYS[name]).sharded(case)  # type: ignore[index]  # the names of algorithms
        verdict = judge_sharded(sharded_meaning(case), seen, CLAUSES, STANDARD)
        assert verdict.outcome == "passed", verdict.detail
        if f"sharded.C{right}" in verdict.clauses:
            told += 1
            assert verdict.clauses[f"sharded.C{right}"] == "held"
            assert verdict.clauses[f"sharded.C{wrong}"] == "broken"
    assert told > 5


def test_who_refuses_a_fold_says_nothing_of_its_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = (sharded_meaning(numbered(folds(), 0, number)[0]) for number in range(20))
    subject = next(each for each in drawn if each.by_algorithm)
    monkeypatch.setattr(ShardedSubject, "refusable", property(lambda self: "node 'n1': it has no such fold"))
    refused = Observation(errors=(RankError(kind="ValueError", message="no", category="invalid_argument"),))
    verdict = judge_sharded(subject, refused, CLAUSES, STANDARD)
    assert not {"sharded.C51", "sharded.C52"} & verdict.clauses.keys()
