"""What a run showed follows from its records: cut anywhere and joined again, it has shown the same."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as replaced

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.observation import Observation
from conformance.cli.reporting import report_of
from conformance.report.summary import BackendSummary
from conformance.runner.explore import explore
from conformance.runner.log.log import line_of
from conformance.runner.log.reading import LogError, read
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.in_process import InProcess

OPS = ("all_gather", "broadcast", "permute")
SUITES = ("collectives", "async")
PLAN = Plan(OPS, examples=12, suites=SUITES)


class Narrow(Reference):
    """Claims little, and knows one root."""

    @property
    def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
        words = {"dtype": ["int32", "float32", "float16"], "size": ["one", "many"], "world": ["1", "2", "3", "4"]}
        return {"all_gather": words, "broadcast": words, "permute": {**words, "calls": ["legal"]}}

    def broadcast(self, blocks: Any, *, root: int, groups: Any) -> Any:
        return super().__getattr__("broadcast")(blocks, root=0 if root == 1 else root, groups=groups)


class NarrowIndex(Reference):
    """Claims what few cases of the deck are."""

    @property
    def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
        words = {"world": ["1", "2", "3", "4"], "calls": ["legal"]}
        return {"axis_index": words, "barrier": words}


def run(folder: Path, backend: type[Reference] = Narrow, plan: Plan = PLAN, *, resume: bool = False) -> Path:
    explore(plan, {"it": InProcess(BackendSpec("it", ()), backend=backend())}, folder, resume=resume)
    return folder


def shown(*folders: Path) -> Mapping[str, Any]:
    """Return what runs showed together: coverage, counts, power and verdict."""
    (backend,) = report_of(folders).backends
    assert isinstance(backend, BackendSummary)
    fields = ("verdict", "title", "outcomes", "cases", "failing", "power", "exercised", "complete", "undecided")
    return {name: getattr(backend, name) for name in (*fields, "must", "should", "may", "number_model")}


NUMBERS = count()


@cache
def root() -> Path:
    return Path(mkdtemp(prefix="cut-runs-"))


def fresh() -> Path:
    return root() / str(next(NUMBERS))


@cache
def whole(backend: type[Reference], plan: Plan = PLAN) -> Path:
    return run(fresh(), backend, plan)


@pytest.fixture(scope="module", autouse=True)
def _tidy() -> Any:
    yield
    shutil.rmtree(root(), ignore_errors=True)


def cut(log: Path, records: int) -> Path:
    """Return a folder with as many records of a log, and half of the next one."""
    lines = log.joinpath("run.jsonl").read_bytes().splitlines(keepends=True)
    folder = fresh()
    folder.mkdir()
    kept = 1 + records % (len(lines) - 2)
    (folder / "run.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
    return folder


SPENT = Plan(OPS, examples=12, suites=SUITES, time_budget=0.0)
BACKENDS = st.sampled_from([Narrow, Reference])


@settings(max_examples=8, deadline=None)
@given(BACKENDS, st.integers(0, 10_000), st.lists(st.integers(0, 10_000), max_size=1), st.booleans())
def test_interrupted_and_resumed_it_says_the_same(
    backend: type[Reference], first: int, more: Sequence[int], spent: bool
) -> None:
    folder = cut(whole(backend), first)
    for records in more:
        folder = cut(run(folder, backend, resume=True), records)
    if spent:
        run(folder, backend, SPENT, resume=True)
    assert shown(run(folder, backend, resume=True)) == shown(whole(backend))


DECKED = Plan(("axis_index", "barrier"), examples=300, suites=SUITES, decked=True, choices=5)


@settings(max_examples=4, deadline=None)
@given(st.sampled_from([NarrowIndex, Reference]), st.integers(0, 10_000), st.booleans())
def test_the_deck_and_draws_behind_it_interrupted_and_resumed_say_the_same(
    backend: type[Reference], records: int, spent: bool
) -> None:
    folder = cut(whole(backend, DECKED), records)
    if spent:
        run(folder, backend, replace(DECKED, time_budget=0.0), resume=True)
    assert shown(run(folder, backend, DECKED, resume=True)) == shown(whole(backend, DECKED))


def judged(folder: Path) -> Mapping[str, tuple[Any, ...]]:
    """Return each case of a run, what it came to, whether it was asked about, and where it is from."""
    return {
        name: (record.outcome, record.under_claimed, record.observation, record.origin)
        for name, record in records_of(folder).items()
    }


def records_of(folder: Path) -> Mapping[str, CaseRecord]:
    """Return the last record of each case of a run."""
    return {record.case: record for record in read(folder / "run.jsonl") if isinstance(record, CaseRecord)}


@settings(max_examples=12, deadline=None)
@given(st.sampled_from([NarrowIndex, Reference]), st.booleans(), st.integers(0, 10_000), st.booleans())
def test_cut_anywhere_and_resumed_it_asks_about_the_same_cases(
    backend: type[Reference], decked: bool, records: int, twice: bool
) -> None:
    plan = DECKED if decked else replace(DECKED, decked=False, examples=12, choices=None)
    folder = cut(whole(backend, plan), records)
    if twice:
        folder = cut(run(folder, backend, plan, resume=True), records // 2)
    assert judged(run(folder, backend, plan, resume=True)) == judged(whole(backend, plan))


class Loses(NarrowIndex):
    """Gives no answer that is one outside its claims."""

    def execute(self, case: Any) -> Observation:
        return Observation() if case.program.world > 4 else super().execute(case)


def test_resumed_after_a_probe_without_an_answer_it_tries_no_other() -> None:
    plan = replace(DECKED, decked=False, examples=60, choices=None)
    lost = [name for name, record in records_of(whole(Loses, plan)).items() if record.came_to]
    assert [records_of(whole(Loses, plan))[name].came_to for name in lost] == [{"protocol_error": 1}]
    resumed = run(
        cut(whole(Loses, plan), [*records_of(whole(Loses, plan))].index(lost[0]) + 1), Loses, plan, resume=True
    )
    assert judged(resumed) == judged(whole(Loses, plan))


@pytest.mark.parametrize("origin", ["collectives/broadcast/0/0", "collectives/broadcast/1/0", "deck: seed 0", "", "x"])
def test_records_of_cases_that_nobody_comes_to_are_named(origin: str) -> None:
    folder = cut(whole(Reference), 0)
    first, *_ = read(folder / "run.jsonl")
    known = next(record for record in read(whole(Reference) / "run.jsonl") if isinstance(record, CaseRecord))
    forged = [replaced(known, case=f"broadcast/int32-2/{number:012x}", origin=origin or None) for number in range(9)]
    (folder / "run.jsonl").write_bytes(b"".join(map(line_of, [first, *forged])))
    with pytest.raises(LogError, match="is another case: the log was changed"):
        run(folder, Reference, resume=True)


def test_a_run_cut_inside_the_deck_is_incomplete_and_one_cut_behind_it_is_whole() -> None:
    inside = run(fresh(), Reference, replace(DECKED, time_budget=0.0))
    behind = run(fresh(), Reference, replace(DECKED, choices=0))
    assert (shown(inside)["verdict"], shown(inside)["complete"]) == ("incomplete", False)
    assert (shown(behind)["verdict"], shown(behind)["complete"]) == ("partial", True)
    assert shown(inside, behind)["complete"]


@pytest.mark.parametrize("backend", [Narrow, Reference])
def test_resumed_without_time_a_finished_run_says_the_same(backend: type[Reference], tmp_path: Path) -> None:
    shutil.copytree(whole(backend), tmp_path / "again")
    run(tmp_path / "again", backend, SPENT, resume=True)
    assert shown(tmp_path / "again") == shown(whole(backend))


@settings(max_examples=6, deadline=None)
@given(BACKENDS, st.lists(st.sets(st.sampled_from(OPS), min_size=1), min_size=1, max_size=3))
def test_runs_of_some_operations_say_together_what_one_of_all_says(
    backend: type[Reference], shares: list[set[str]]
) -> None:
    left = set(OPS).difference(*shares)
    parts = [tuple(op for op in OPS if op in share) for share in (*shares, left) if share]
    folders = [run(fresh(), backend, Plan(ops, examples=12, suites=SUITES)) for ops in parts]
    assert shown(*folders) == shown(whole(backend))


@settings(max_examples=4, deadline=None)
@given(BACKENDS, st.integers(0, 10_000))
def test_a_piece_of_a_run_takes_nothing_from_the_whole_one(backend: type[Reference], records: int) -> None:
    assert shown(cut(whole(backend), records), whole(backend)) == shown(whole(backend))


def test_what_ended_early_stays_incomplete_without_the_rest() -> None:
    piece, other = cut(whole(Reference), 40), run(fresh(), Reference, Plan(("broadcast",), examples=12, suites=SUITES))
    assert shown(piece, other)["verdict"] == "incomplete"
