"""What fails only after other cases is told once, and blames no clause of what merely came later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.backends.base import Claims
from conformance.backends.discovery import BackendSpec, find
from conformance.backends.reference import Reference
from conformance.cases.codec import load
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations import OPERATIONS
from conformance.runner.explore import explore
from conformance.runner.log.reading import read
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord
from conformance.runner.result import Result
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.workers import Worker

PLAN = Plan(ops=("all_reduce",), examples=13, suites=("collectives",))


class WrongAfterError(Reference):
    """Raises at the first product of numbers, and computes wrongly from then on."""

    spoilt = False

    def all_reduce(self, blocks: list[Array], *, op: str, **rest: Any) -> list[Array]:
        right: list[Array] = super().__getattr__("all_reduce")(blocks, op=op, **rest)
        if self.spoilt:
            return [np.zeros_like(block) for block in right]
        if op == "product" and blocks[0].dtype != bool:
            self.spoilt = True
            raise RuntimeError("no kernel for products")
        return right


class Renewed(InProcess):
    """A worker whose processes are backends of this one: new ones forget what the old ones were left with."""

    def __init__(self, backend: type[Reference]) -> None:
        super().__init__(BackendSpec("it", ()), backend=backend())
        self._made = backend
        self._number = 1

    def apart(self) -> Renewed:  # type: ignore[override]
        return Renewed(self._made)

    def renew(self) -> None:
        self._backend = self._made()
        self._number += 1

    def _execute(self, cases: Sequence[Any]) -> list[Answer]:
        return [replace(answer, process=self._number) for answer in super()._execute(cases)]


def run(worker: Judgeable, directory: Path, plan: Plan = PLAN) -> Result:
    return explore(plan, {"it": worker}, directory)


def test_what_an_error_leaves_wrong_is_one_sequence_and_no_failure_of_later_cases(tmp_path: Path) -> None:
    result = run(Renewed(WrongAfterError), tmp_path)
    failure = next(each for each in result.failures if each.clause == "reduction.C2")
    (sequence,) = result.sequences
    assert {(each.outcome, each.error) for each in result.failures} == {("errored", "RuntimeError")}
    assert "reduction.C13" not in {each.clause for each in result.failures}  # refused beside means of integers, too
    assert failure.minimal
    assert failure.alone
    (before, last) = [load(tmp_path / file).program for file in sequence.files]
    (error,), (wrong,) = ([each.attrs["op"] for each in program.steps] for program in (before, last))
    assert error == "product" != wrong
    assert before.world == 1
    assert len(sequence.explains) > 5
    assert (result.unexplained, result.unrepeated) == ((), {})
    last = {r.case: r for r in read(tmp_path / "run.jsonl") if isinstance(r, CaseRecord)}
    assert {last[case].unrepeated for case in sequence.explains} == {"failed"}
    assert {last[case].outcome for case in sequence.explains} <= {"passed", "errored"}


def test_a_crash_that_never_comes_again_is_counted_and_no_pass(
    bad: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCE", str(tmp_path / "once"))
    with Worker(find(bad("aborts_once"))) as worker:
        result = run(worker, tmp_path / "run")
    assert (result.status, result.unrepeated, result.sequences) == (3, {"it": 1}, ())


@pytest.mark.slow
def test_a_crash_that_comes_again_after_the_same_cases_is_a_failure(bad: Callable[[str], str], tmp_path: Path) -> None:
    with Worker(find(bad("aborts_sixth"))) as worker:
        result = run(worker, tmp_path, replace(PLAN, examples=5))
    (sequence,) = result.sequences
    assert (sequence.outcome, sequence.error, len(sequence.cases)) == ("crashed", "SIGABRT", 6)
    assert (result.status, result.failures) == (1, ())


def test_a_budget_bounds_a_run_of_endless_draws_and_of_cases_under_way(
    bad: Callable[[str], str], tmp_path: Path
) -> None:
    with Worker(find("reference")) as worker:
        assert worker.ready.name
        result = run(worker, tmp_path, replace(PLAN, examples=10**23, time_budget=1.0))
    assert result.status == 3
    assert result.undrawn
    assert result.seconds < 120.0  # of what would take years


def test_an_operation_asked_for_by_name_and_not_judged_is_inconclusive(tmp_path: Path) -> None:
    class Harmless(Reference):
        @property
        def claims(self) -> Claims:
            return {"barrier": {}}

    result = run(Renewed(Harmless), tmp_path, Plan(ops=("barrier", "all_reduce"), examples=20))
    assert (result.status, result.inconclusive, result.unjudged) == (3, True, {"it": ("all_reduce",)})


def test_a_forged_record_of_an_earlier_run_is_found(tmp_path: Path) -> None:
    class Failing(Reference):
        broken = False

        def barrier(self, **rest: Any) -> None:
            if self.broken:
                raise RuntimeError("none")
            OPERATIONS["barrier"](**rest)

    plan = Plan(ops=("barrier",), examples=15)
    run(Renewed(Failing), tmp_path, plan)
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    Failing.broken = True
    result = explore(plan, {"it": Renewed(Failing)}, tmp_path, resume=True)
    assert result.differing
    assert (result.status, result.resumed >= result.asked_again > 0) == (1, True)
    records = [record for record in read(log) if isinstance(record, CaseRecord)]
    assert all(record.observation for record in records if "the earlier run said" in (record.note or ""))
