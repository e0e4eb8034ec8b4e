"""Behind the deck draws go on: what adds most of ten is asked, the same for the same seed, deck and claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialects import trial
from conformance.runner.drawn_again import drawn_again
from conformance.runner.exploration import Chooser
from conformance.runner.explore import explore
from conformance.runner.offering import draw_and_offer
from conformance.runner.plan import Plan
from conformance.runner.records.origin import origin_of
from conformance.runner.records.record import CaseRecord, Record
from conformance.runner.result import Result
from conformance.runner.shown_goals import ShownGoals
from conformance.runner.worker.in_process import InProcess

PLAN = Plan(ops=("barrier", "axis_index"), examples=300, suites=("collectives", "async"), decked=True, choices=8)


class Narrow(Reference):
    """Claims what few draws lie within."""

    @property
    def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
        return {"axis_index": {"world": ["2"], "calls": ["legal"]}, "barrier": {"world": ["3"], "calls": ["legal"]}}


def worker(backend: type[Reference]) -> InProcess:
    return InProcess(BackendSpec("it", ()), backend=backend())


def run(
    folder: Path, backend: type[Reference] = Reference, plan: Plan = PLAN, *, resume: bool = False
) -> tuple[Result, list[CaseRecord]]:
    records: list[Record] = []
    result = explore(plan, {"it": worker(backend)}, folder, watch=records.append, resume=resume)
    return result, [record for record in records if isinstance(record, CaseRecord)]


def chosen(records: list[CaseRecord]) -> list[str]:
    return sorted(f"{record.origin} {record.case}" for record in records if origin_of(record.origin or ""))


def test_it_owes_nothing_and_every_record_says_where_the_case_is_from(tmp_path: Path) -> None:
    result, records = run(tmp_path)
    assert (result.status, result.undrawn, result.never) == (0, (), ())
    assert len(chosen(records)) >= 8
    assert all(record.origin and record.origin.startswith("deck: ") for record in records[:3])


def test_each_chosen_case_is_the_one_that_its_draw_makes_again(tmp_path: Path) -> None:
    for record in run(tmp_path)[1]:
        origin = origin_of(record.origin or "")
        if origin is not None:
            made = trial(drawn_again(origin, Reference().claims))
            assert made is not None
            assert made.name == record.case


@pytest.mark.parametrize("backend", [Reference, Narrow])
def test_a_resumed_run_chooses_the_same_cases(backend: type[Reference], tmp_path: Path) -> None:
    _, whole = run(tmp_path / "whole", backend)
    lines = (tmp_path / "whole" / "run.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "run.jsonl").write_bytes(b"".join(lines[: 1 + len(whole) - 5]))
    _, resumed = run(tmp_path / "cut", backend, resume=True)
    assert chosen(resumed) == chosen(whole)


def test_within_narrow_claims_what_is_judged_lies_within_them(tmp_path: Path) -> None:
    result, records = run(tmp_path, Narrow)
    assert sum(record.outcome == "passed" for record in records if origin_of(record.origin or "")) >= 8
    assert {record.outcome for record in records} <= {"passed", "unsupported"}
    assert result.status == 0


def test_draws_end_where_they_add_next_to_nothing_unless_a_time_was_named(tmp_path: Path) -> None:
    plan = replace(PLAN, ops=("axis_index",), suites=("collectives",), choices=None)
    _, ended = run(tmp_path / "ends", Reference, plan)
    assert len(ended) < 200
    _, timed = run(tmp_path / "timed", Reference, replace(plan, choices=len(ended) + 5, time_budget=1000.0))
    assert {record.case for record in ended} <= {record.case for record in timed}


def test_what_the_deck_shows_nothing_of_is_drawn_however_late_it_is(tmp_path: Path) -> None:
    class Odd(Reference):
        @property
        def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
            return {"axis_index": {"world": ["7"], "calls": ["legal"]}}

    plan = replace(PLAN, ops=("axis_index",), choices=0)
    result, records = run(tmp_path, Odd, plan)
    assert [record.outcome for record in records] == ["passed"]
    assert (result.unshown, result.unjudged, result.complete) == ({"it": ()}, {"it": ()}, True)


def test_no_time_behind_the_deck_leaves_a_whole_run_without_draws(tmp_path: Path) -> None:
    backend = BackendRun("it", worker(Reference), lambda record: None)
    drawn = draw_and_offer(PLAN, [backend], lambda: False, over=lambda: True, origins=backend.origins)
    assert drawn.undrawn == ()
    assert backend.records.tally.judged.total() > 0


def test_what_has_no_answer_as_the_time_ends_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.runner.offering.UNDER_WAY", 0.0)
    records: list[CaseRecord] = []
    backend = BackendRun("it", Slow(BackendSpec("it", ()), backend=Reference()), records.append)
    monkeypatch.setattr("conformance.runner.offering.offer_deck", lambda *_: iter([1.0]))
    monkeypatch.setattr(Chooser, "show", lambda _: None)
    asked: list[int] = []

    def over() -> bool:
        asked.append(1)
        return len(asked) > 12

    draw_and_offer(replace(PLAN, choices=None), [backend], lambda: False, over=over, origins=backend.origins)
    assert records == []
    assert backend.dialogues.outstanding == 0


class Slow(InProcess):
    """Never has an answer."""

    def poll(self, timeout: float) -> list[Any]:
        return []


def test_what_was_shown_adds_nothing_and_what_is_new_does() -> None:
    shown = ShownGoals()
    cases = [drawn_again(origin) for text in ("0", "3") if (origin := origin_of(f"collectives/permute/0/{text}"))]
    first, second = (shown.goals_of(one) for case in cases if (one := trial(case)))
    assert shown.adds(first) == len(first) > 0
    shown.show(first)
    assert shown.adds(first) == 0
    assert 0 < shown.adds(second) < len(second)
