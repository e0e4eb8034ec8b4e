"""What fails only after other cases is told once, and blames no clause of what merely came later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.backends.discovery import find
from conformance.runner import shrinking
from conformance.runner.answers import Limits
from conformance.runner.explore import explore
from conformance.runner.log import CaseRecord, read
from conformance.runner.plan import Plan
from conformance.runner.result import Result
from conformance.runner.workers import Worker

PLAN = Plan(ops=("all_reduce",), examples=30, suites=("collectives",))
FEW = Plan(ops=("all_reduce",), examples=14, suites=("collectives",))


def run(backend: str, directory: Path, plan: Plan = PLAN, limit: float = 20.0) -> Result:
    with Worker(find(backend), Limits(case=limit)) as worker:
        return explore(plan, {"it": worker}, directory)


def test_what_an_error_leaves_wrong_is_one_sequence_and_no_failure_of_later_cases(
    bad: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for calls in ("SHRINK_CALLS", "REDUCTION_CALLS"):
        monkeypatch.setattr(shrinking, calls, 3)  # each that fails alike costs a process
    result = run(bad("wrong_after_error"), tmp_path)
    (failure,) = result.failures
    (sequence,) = result.sequences
    assert (failure.clause, failure.outcome, failure.error) == ("reduction.C2", "errored", "RuntimeError")
    assert failure.alone
    assert len(sequence.cases) == 2
    assert len(sequence.explains) > 5
    assert result.unexplained == ()
    last = {r.case: r for r in read(tmp_path / "run.jsonl") if isinstance(r, CaseRecord)}
    assert {(last[case].outcome, last[case].unrepeated) for case in sequence.explains} == {("passed", "failed")}


def test_a_crash_that_comes_again_after_the_same_cases_is_a_failure(bad: Callable[[str], str], tmp_path: Path) -> None:
    result = run(bad("aborts_sixth"), tmp_path, FEW)
    (sequence,) = result.sequences
    assert (sequence.outcome, sequence.error, len(sequence.cases)) == ("crashed", "SIGABRT", 6)
    assert (result.status, result.failures) == (1, ())


def test_a_crash_that_never_comes_again_is_counted_and_no_pass(
    bad: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCE", str(tmp_path / "once"))
    result = run(bad("aborts_once"), tmp_path / "run")
    assert (result.status, result.unrepeated, result.sequences) == (3, {"it": 1}, ())
