"""The same cases asked again: what comes out now so, now otherwise is flaky, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.tensor.dtypes import Array
from conformance.cli.reporting import report_on
from conformance.reference.operations import OPERATIONS
from conformance.report import run_of
from conformance.report.formats.ctrf import as_ctrf
from conformance.report.formats.junit import as_junit
from conformance.report.formats.markdown import as_markdown
from conformance.runner.budget import Budget
from conformance.runner.explore import explore
from conformance.runner.log.reading import read
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.in_process import InProcess

PLAN = Plan(ops=("broadcast",), examples=10, suites=("collectives",), times=5)


class Numbered(InProcess):
    """A worker whose backend knows the number of its process; ``asked`` has the cases of each, in order."""

    def __init__(self, backend: Callable[[int], Reference]) -> None:
        super().__init__(BackendSpec("it", ()), backend=backend(1))
        self._made, self.asked = backend, [[]]

    def renew(self) -> None:
        if self.asked[-1]:
            self.asked.append([])
            self._backend = self._made(len(self.asked))

    def _execute(self, cases: Sequence[Any]) -> list[Answer]:
        self.asked[-1] += cases
        return [replace(answer, process=len(self.asked)) for answer in super()._execute(cases)]


def wrong_in(*numbers: int) -> Numbered:
    class Wrong(Reference):
        def __init__(self, number: int) -> None:
            self.number = number

        def broadcast(self, blocks: list[Array], **rest: Any) -> list[Array]:
            right: list[Array] = OPERATIONS["broadcast"](blocks, **rest)
            small = self.number in numbers and len(blocks) == 2
            return [np.full_like(block, self.number) for block in right] if small else right

    return Numbered(Wrong)


def records(directory: Path) -> dict[str, CaseRecord]:
    return {one.case: one for one in read(directory / "run.jsonl") if isinstance(one, CaseRecord)}


def test_a_case_of_two_outcomes_is_flaky_and_neither_passes_nor_fails(tmp_path: Path) -> None:
    result = explore(PLAN, {"it": wrong_in(2, 4)}, tmp_path)
    flaky = [one for one in records(tmp_path).values() if one.outcome == "flaky"]
    assert flaky
    assert {(one.came_to["passed"], one.came_to["failed"]) for one in flaky} == {(3, 2)}
    assert (result.status, result.failures, result.repeated["it"].flaky) == (3, (), len(flaky))
    assert result.counts["it"]["flaky"] == len(flaky)
    assert "passed 3 of 5 times, failed 2 of 5 times" in (flaky[0].detail or "")


def test_every_form_of_the_report_names_a_flaky_case(tmp_path: Path) -> None:
    result = explore(PLAN, {"it": wrong_in(1)}, tmp_path)
    report = report_on(run_of(tmp_path, result.records))
    one = report.backends[0].flaky[0]
    assert (report.backends[0].verdict, one.came_to, one.times) == ("incomplete", {"failed": 1, "passed": 4}, 5)
    assert report.backends[0].failing == 0
    assert f"`{one.case}`" in as_markdown(report)
    assert 'type="flaky"' in as_junit(report)
    tests = {test["name"]: test for test in json.loads(as_ctrf(report))["results"]["tests"]}
    assert (tests[f"it: broadcast: {one.case}"]["flaky"], tests[f"it: broadcast: {one.case}"]["status"]) == (
        True,
        "other",
    )


def test_what_fails_each_time_is_a_failure_whatever_its_bits(tmp_path: Path) -> None:
    result = explore(PLAN, {"it": wrong_in(1, 2, 3, 4, 5, *range(6, 400))}, tmp_path)
    assert (result.status, result.repeated["it"].flaky) == (1, 0)
    assert result.failures
    assert result.repeated["it"].varying


def test_other_bits_that_every_clause_permits_are_told_and_not_flaky(tmp_path: Path) -> None:
    class Reversed(Reference):
        def __init__(self, number: int) -> None:
            self.number = number

        def all_reduce(self, blocks: list[Array], *, groups: Any, **rest: Any) -> list[Array]:
            turned = tuple(group[:: -1 if self.number % 2 else 1] for group in groups)
            made: list[Array] = OPERATIONS["all_reduce"](blocks, groups=turned, **rest)
            return made

    plan = replace(PLAN, ops=("all_reduce",), suites=("numerics",), examples=20, times=2)
    result = explore(plan, {"it": Numbered(Reversed)}, tmp_path)
    assert result.repeated["it"].flaky == 0
    assert result.repeated["it"].varying > 0
    assert {one.outcome for one in records(tmp_path).values()} <= {"passed"}


def test_each_time_has_the_order_and_company_of_the_first_and_processes_of_its_own(tmp_path: Path) -> None:
    worker = wrong_in()
    result = explore(replace(PLAN, times=3), {"it": worker}, tmp_path)
    assert len(worker.asked) == 3
    assert worker.asked[0] == worker.asked[1] == worker.asked[2]
    assert (result.repeated["it"].cases, result.repeated["it"].fewer) == (len(worker.asked[0]), 0)


def test_a_run_that_goes_on_asks_what_was_taken_over_as_often(tmp_path: Path) -> None:
    explore(replace(PLAN, times=1), {"it": wrong_in()}, tmp_path)
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    result = explore(replace(PLAN, times=3), {"it": wrong_in(2)}, tmp_path, resume=True)
    assert result.counts["it"]["flaky"] == result.repeated["it"].flaky > 0
    again = explore(replace(PLAN, times=3), {"it": wrong_in()}, tmp_path, resume=True)
    assert again.counts["it"]["flaky"] == again.repeated["it"].flaky == result.repeated["it"].flaky


def test_a_spent_budget_says_how_many_were_asked_fewer_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = wrong_in()
    # Every process takes a second, on every machine.
    monkeypatch.setattr("conformance.runner.explore.Budget", partial(Budget, clock=lambda: float(len(worker.asked))))
    result = explore(replace(PLAN, times=100, time_budget=3.0), {"it": worker}, tmp_path)
    assert 3 < len(worker.asked) < 10
    assert result.repeated["it"].fewer == len(worker.asked[0]) > 0
    assert result.status == 3
