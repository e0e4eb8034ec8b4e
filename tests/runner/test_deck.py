"""A run begins with the deck: within each backend's claims, in the order that is best for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cli import main
from conformance.runner import deck as of_runner
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, Record
from conformance.runner.result import Result
from conformance.runner.worker.in_process import InProcess
from conformance.vectors.best_order import best_order
from conformance.vectors.deck import Deck, deck, read_deck
from conformance.vectors.deck_error import DeckError

PLAN = Plan(ops=("permute", "scatter"), examples=300, suites=("collectives", "aliasing"), profile="deck", decked=True)


class Sums(Reference):
    @property
    def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
        return {"permute": {"dtype": ["int32", "float32"], "calls": ["legal"]}}


class Wrong(Reference):
    def permute(self, blocks: list[Any], **rest: Any) -> list[Any]:
        return [block.copy() for block in blocks]


def run(plan: Plan, backend: type[Reference], folder: Path) -> tuple[Result, list[CaseRecord]]:
    records: list[Record] = []
    worker = InProcess(BackendSpec("it", ()), backend=backend())
    result = explore(plan, {"it": worker}, folder, watch=records.append)
    return result, [record for record in records if isinstance(record, CaseRecord)]


def of_plan() -> list[str]:
    return [one.name for one in deck().cases if one.op in PLAN.ops and one.suite in PLAN.suites]


def test_a_run_of_the_deck_asks_its_cases_in_order_ends_and_owes_nothing(tmp_path: Path) -> None:
    result, records = run(PLAN, Reference, tmp_path)
    order = best_order(deck(), Reference().claims, PLAN.suites, PLAN.ops)
    assert sorted(record.case for record in records) == sorted(deck().cases[number].name for number in order)
    assert {*of_plan()} == {record.case for record in records}
    assert (result.status, result.undrawn, result.never) == (0, (), ())


def test_only_cases_within_the_claims_are_asked(tmp_path: Path) -> None:
    result, records = run(PLAN, Sums, tmp_path)
    assert 0 < len(records) < len(of_plan())
    assert {record.op for record in records} == {"permute"}
    assert {record.outcome for record in records} == {"passed"}
    assert result.power["it"].outside > 0
    assert 0 < result.power["it"].within.seen <= result.power["it"].within.mutants


def test_what_is_wrong_is_found_by_the_deck(tmp_path: Path) -> None:
    assert run(PLAN, Wrong, tmp_path)[0].status == 1


def test_draws_go_on_behind_the_deck_where_the_profile_explores(tmp_path: Path) -> None:
    explored = Plan(ops=("barrier",), examples=300, suites=("collectives",), decked=True)
    _, records = run(explored, Reference, tmp_path)
    names = [record.case for record in records]
    mine = [one.name for one in deck().cases if one.op == "barrier" and one.suite == "collectives"]
    assert sorted(names[: len(mine)]) == sorted(mine)
    assert len(names) > len(mine)
    assert len({*names}) == len(names)


def test_claims_that_leave_nothing_are_named(tmp_path: Path) -> None:
    class Nothing(Reference):
        @property
        def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
            return {"permute": {"dtype": [], "operands": []}}

    with pytest.raises(DeckError, match=r"no case of .* of the deck lies within the claims"):
        run(PLAN, Nothing, tmp_path)


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a deck whose cases say that they mean something else."""

    whole = deck()
    other = Deck(
        made=whole.made,
        digest=whole.digest,
        tables=whole.tables,
        cases=tuple(replace(one, meaning="0" * 16) for one in whole.cases),
    )
    monkeypatch.setattr(of_runner, "deck", lambda: other)


@pytest.mark.usefixtures("changed")
def test_a_case_that_means_something_else_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(DeckError, match="no longer means what its digest says"):
        run(PLAN, Reference, tmp_path)


@pytest.mark.usefixtures("changed")
def test_the_command_names_it_and_ends_with_status_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        "-b",
        "reference",
        "--profile",
        "deck",
        "--op",
        "barrier",
        "--in-process",
        "-o",
        str(tmp_path / "x"),
    ]
    assert main(words) == 3
    assert "no longer means what its digest says" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"no deck", b""])
def test_a_deck_that_is_not_to_be_read_ends_the_command_and_what_lies_there_stays(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deck").write_bytes(content)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "kept").write_text("mine")
    monkeypatch.setattr(of_runner, "deck", lambda: read_deck(tmp_path / "deck"))
    assert main(["run", "-b", "reference", "--profile", "deck", "--op", "barrier", "-o", str(tmp_path / "x")]) in (2, 3)
    assert capsys.readouterr().err
    assert (tmp_path / "x" / "kept").read_text() == "mine"
