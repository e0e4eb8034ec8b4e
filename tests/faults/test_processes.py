from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from conformance.backends.discovery import find
from conformance.cases.observation import Observation
from conformance.runner.worker.answers import Answer, Broken, Limits
from conformance.runner.worker.workers import Worker
from tests.faults.fault import Fault
from tests.faults.processes import FINE, TABLE, TIMEOUT
from tests.runner.conftest import broadcast_of

ENOUGH = Limits(memory=512 << 20)
"""More than a case needs, however busy the machine is."""

SHORT = replace(ENOUGH, case=3.0)
"""For who hangs: a case that does not is answered in milliseconds."""

HARNESS = Path(__file__).parent / "harness.py"


@pytest.fixture(autouse=True)
def nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    assert not [
        each for each in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(each.info["cmdline"] or ())
    ]
    assert not list(tmp_path.iterdir())


def ask(how: str, firsts: list[int], mark: Path, limits: Limits) -> list[Answer]:
    answers: dict[int, Answer] = {}
    with Worker(find(f"exec:{sys.executable} {HARNESS} {how} {mark}"), limits) as worker:
        tickets = [worker.submit(broadcast_of(first)) for first in firsts]
        while worker.outstanding:
            answers.update(worker.poll(10.0))
    return [answers[ticket] for ticket in tickets]


def shown(answer: Answer) -> str:
    assert isinstance(answer.result, Observation), answer
    return answer.result.results["y"][1].bits[:2]  # type: ignore[union-attr]


@pytest.mark.parametrize("fault", TABLE.faults, ids=[fault.data[0] for fault in TABLE.faults])
def test_a_fault_costs_one_case(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how, outcome, says = fault.data
    if how.startswith("closes "):  # nobody else lives on: what has ended is told of as late as a busy machine does
        monkeypatch.setattr("conformance.runner.worker.session.REAP", 0.3)
    limits = SHORT if outcome == TIMEOUT else ENOUGH
    first, second, third, fourth = ask(how, [1, 2, 0x42, 4], tmp_path, limits)
    assert [shown(first), shown(second), shown(fourth)] == ["01", "02", "04"]
    if outcome == FINE:
        assert shown(third) == "42"
        return
    assert isinstance(third.result, Broken), third
    assert third.result.outcome == outcome, third.result
    assert says in third.result.detail
