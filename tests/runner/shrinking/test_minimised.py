"""What a smallest case stands for: cases that fail as it does alone, and those of its own dtypes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.declarations.terms import terms
from conformance.cases.tensor.dtypes import Array
from conformance.judging.verdict import Verdict
from conformance.runner import pass_two
from conformance.runner.dialects import operations
from conformance.runner.shrinking import minimise
from conformance.runner.shrinking.shrinking import SmallestCase
from tests.runner.shrinking.test_confirming import PLAN, Renewed, run

PASSED = Verdict(outcome="passed", clauses={})


class Zeros(Reference):
    """Reduces to zeros."""

    def all_reduce(self, blocks: list[Array], **rest: Any) -> list[Array]:
        return [np.zeros_like(block) for block in super().__getattr__("all_reduce")(blocks, **rest)]


class Raises(Reference):
    """Reduces nothing."""

    def all_reduce(self, blocks: list[Array], **rest: Any) -> list[Array]:
        raise RuntimeError("no kernel")


@pytest.mark.parametrize(("alone", "outcomes"), [(Raises, set()), (Zeros, {"failed"})])
def test_a_case_without_a_smaller_one_is_told_where_it_fails_alone_as_it_did(
    alone: type[Reference], outcomes: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Renewed(Zeros)
    monkeypatch.setattr(worker, "apart", lambda: Renewed(alone))  # the process that a case is alone in
    monkeypatch.setattr(pass_two, "confirm", lambda backend, late: None)  # as where there was no time for it
    passing = SmallestCase(None, PASSED, minimal=True)
    monkeypatch.setattr(
        minimise,
        "_smallest",
        lambda backend, start, late, *, careful: replace(passing, case=backend.failures.trial(start).case),
    )
    assert {each.outcome for each in run(worker, tmp_path, replace(PLAN, examples=4)).failures} == outcomes


def test_a_smallest_case_of_a_rare_dtype_stands_for_none_of_a_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clause = next(each for each in operations()["all_reduce"].clauses("all_reduce", terms()) if each.general)
    wrong = Verdict(outcome="failed", clauses={clause.id: "broken"}, blame=clause, detail="1 of 1 elements differ")
    rare, plain = "all_reduce/float8_e8m0fnu-1/1", "all_reduce/int32-3/2"
    backend: Any = SimpleNamespace(terms=terms(), failures=SimpleNamespace(verdict_of=lambda name: wrong))
    monkeypatch.setattr(minimise, "_ordered", lambda failures, op, clauses: [rare, plain])
    monkeypatch.setattr(minimise, "_turn", lambda late, failures, left: late)
    monkeypatch.setattr(minimise, "name_of", lambda case: case)
    monkeypatch.setattr(
        minimise,
        "_confirmed",
        lambda backend, start, late, soon: minimise._Confirmed(SmallestCase(start, wrong, minimal=True), alone=True),
    )
    found: list[list[str]] = []

    def known(case: str, judged: Verdict, names: list[str]) -> bool:
        found.append(names)
        return True

    assert not list(minimise.failures(backend, "all_reduce", lambda name, case: "", known=known))
    assert found == [[rare], [plain]]
