"""An operation that hangs or crashes again and again is given up, and the others are judged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance.backends.discovery import find
from conformance.judging.clause import Outcome
from conformance.judging.verdict import Verdict
from conformance.runner.backend.given_up import GivenUp
from conformance.runner.explore import explore
from conformance.runner.log.reading import read
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord
from conformance.runner.result import Result
from conformance.runner.worker.answers import Limits
from conformance.runner.worker.workers import Worker

SOURCE = """
import os, time
from conformance.backends.reference import Reference

class Bad(Reference):
    claims = {"broadcast": {"calls": ["legal"]}, "permute": {"calls": ["legal"]}}

    def broadcast(self, blocks, **attributes):
        HOW
"""


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    # Nothing is made smaller, for each answer would be waited for again.
    monkeypatch.setattr("conformance.runner.shrinking.shrinking.HANGS", 0)

    def call(how: str, stop_after: int, *, resume: bool = False, name: str = "run") -> Result:
        (tmp_path / "stopping.py").write_text(SOURCE.replace("HOW", how))
        plan = Plan(("broadcast", "permute"), examples=24, suites=("collectives",), stop_after=stop_after)
        limits = Limits(case=2.0) if "sleep" in how else Limits()  # what does not hang is answered in milliseconds
        with Worker(find("stopping:Bad"), limits) as worker:
            return explore(plan, {"it": worker}, tmp_path / name, resume=resume)

    return call


def outcomes(folder: Path) -> dict[str, Counter[str]]:
    """Return how many cases came to what: of those of permute, the ones that broadcast nothing."""
    last = {record.case: record for record in read(folder / "run.jsonl") if isinstance(record, CaseRecord)}
    last = {name: record for name, record in last.items() if record.op == "broadcast" or "broadcast" not in name}
    return {
        op: Counter(record.outcome for record in last.values() if record.op == op) for op in ("broadcast", "permute")
    }


@pytest.mark.parametrize(
    ("how", "outcome", "most"),
    [("time.sleep(60)", "timeout", 2), ("os.abort()", "crashed", 3)],  # each hang is waited for
)
def test_after_so_many_nothing_more_is_asked_of_it(
    judge: Any, tmp_path: Path, how: str, outcome: str, most: int
) -> None:
    result = judge(how, most)
    found = outcomes(tmp_path / "run")
    assert found["broadcast"][outcome] == most
    assert found["broadcast"]["not_run"] > 3
    assert found["permute"].keys() <= {"passed", "unsupported"}
    assert result.status == 1
    assert f"broadcast was given up after {most} hangs or crashes; --stop-after 0" in (result.owed[0].detail or "")


@pytest.mark.slow  # each crash is a process
def test_with_0_it_is_never_given_up(judge: Any, tmp_path: Path) -> None:
    judge("os.abort()", 0)
    found = outcomes(tmp_path / "run")["broadcast"]
    assert found["crashed"] > 3
    assert not found["not_run"]


@pytest.mark.slow  # each crash is a process
def test_resumed_it_stays_given_up_and_goes_on_where_that_is_wanted(judge: Any, tmp_path: Path) -> None:
    judge("os.abort()", 3)
    judge("os.abort()", 3, resume=True)
    assert outcomes(tmp_path / "run")["broadcast"]["crashed"] == 3
    judge("os.abort()", 0, resume=True)
    assert not outcomes(tmp_path / "run")["broadcast"]["not_run"]


def test_what_ends_as_a_known_failure_does_is_expected_and_does_not_count() -> None:
    crash, hang = (Verdict(outcome=outcome, clauses={}, error=error) for outcome, error in ENDS)
    given_up = GivenUp(2)
    given_up.expect("broadcast", crash)
    for _ in range(5):
        given_up.add("broadcast", crash)
    given_up.add("broadcast", hang)
    assert not given_up.has("broadcast")
    given_up.add("broadcast", hang)
    assert given_up.has("broadcast")


ENDS: tuple[tuple[Outcome, str | None], ...] = (("crashed", "SIGSEGV"), ("timeout", None))
