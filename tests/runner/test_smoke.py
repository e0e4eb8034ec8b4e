"""A smoke test: the first cases of the deck within the claims, and plain ones of what else is claimed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.runner import smoke as of_smoke
from conformance.runner.records.record import CaseRecord
from conformance.runner.smoke import FIRST, smoke
from conformance.runner.worker.in_process import InProcess
from conformance.vectors.best_order import best_order
from conformance.vectors.deck import deck
from conformance.vectors.deck_error import NothingLeftError


class Little(Reference):
    """Claims one operation."""

    @property
    def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
        return {"all_gather": {}}


def nothing(*_: object) -> list[int]:
    raise NothingLeftError("no case")


def records(backend: type[Reference]) -> list[CaseRecord]:
    found: list[CaseRecord] = []
    smoke("it", InProcess(BackendSpec("it", ()), backend=backend()), found.append)
    return found


def test_the_first_cases_of_the_deck_come_first() -> None:
    first = [deck().cases[number].name for number in best_order(deck(), Reference().claims)[:FIRST]]
    found = records(Reference)
    assert {record.case for record in found} >= {*first}
    assert len(found) < 2 * FIRST
    assert {record.outcome for record in found if record.requirement == "must"} == set()
    assert {record.op for record in found} >= {"barrier", "axis_size", "send"}


def test_where_the_deck_has_none_worked_examples_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_smoke, "best_order", nothing)
    assert {(record.outcome, record.op) for record in records(Little)} == {("passed", "all_gather")}


class Together(Little):
    """Is asked about several cases at once."""

    together: ClassVar = {"programs": 16}  # type: ignore[assignment]  # a property of the class it is of

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        return [self.execute(case) for case in cases]


def test_cases_that_wait_for_company_are_asked_about_in_the_end() -> None:
    assert {record.case for record in records(Together)} == {record.case for record in records(Little)}


def test_when_the_time_is_spent_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_smoke, "SECONDS", -1.0)
    assert records(Reference) == []
