"""Backends asked for schedules: counted by clause, made small, and safe from what a backend does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec.structs import replace

from conformance.backends.base import Backend, Unsupported
from conformance.backends.discovery import BackendSpec
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph, Variable
from conformance.cases.schedule.builders import alu, buffer, given, graph, node, reads, schedule, stored, writes
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Alu, Body, Load, Store
from conformance.cases.schedule.schedule import Binding, Kernel, Place, Schedule
from conformance.qualification.mutant_module import spec_of
from conformance.runner.dialects import load_case
from conformance.runner.dialects.schedule import GRAPH, PROGRAM
from conformance.runner.explore import explore
from conformance.runner.log.reading import read
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, Failure
from conformance.runner.result import Result
from conformance.runner.worker.answers import Answer, Broken, Limits, Question, Request
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.workers import Worker
from tests.runner.asked_schedules import ask_schedule, drawn

EMPTY = Schedule(devices={}, buffers=(), items=())
ASKED = graph(stored("a"), results=["a"])
SYMBOLIC = graph(
    stored("a"), node("part", "shrink", "a", shape=("n",), arg=((0, "n"),)), alu("y", "neg", "part", shape=("n",)),
    results=["y"], variables={"n": Variable(low=1, high=4, value=3)},
)  # fmt: skip


class Views(Backend):
    """Schedules graphs whose results are buffers: there is nothing to do."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return no item."""
        if isinstance(asked, Case) or not set(asked.results) <= {n.id for n in asked.nodes if n.op == "buf"}:
            raise Unsupported("only buffers")
        return EMPTY


class Nothing(Backend):
    """Says that nothing has to be done, whatever was asked."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return no item."""
        return EMPTY


class Negates(Backend):
    """Negates the first elements of a buffer, as many as a variable says."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return one kernel over as many points."""
        if isinstance(asked, Case):
            raise Unsupported("no programs")
        every = (Affine(extents=self.extents(asked), strides=(1,)),)
        body = Body(
            extents=every[0].extents, instructions=(Load(access=0), Alu(op="neg", of=(0,)), Store(access=1, of=1))
        )
        told = tuple(Binding(n, asked.variables[n].value) for n in every[0].extents if isinstance(n, str))
        kernel = Kernel(
            id="k", device="d0", accesses=(reads("a", every), writes("y", every)), bodies=(body,), variables=told
        )
        return replace(
            schedule((*given("a"), buffer("y")), [kernel]),
            places=(Place(node="y", buffer="y", map=(Affine(extents=("n",), strides=(1,)),)),),
        )

    def extents(self, asked: Graph) -> tuple[int | str, ...]:
        """Return the points by the name of their number."""
        return ("n",)

    def remaining(self, asked: Case | Graph) -> Schedule:
        """Return no item."""
        return replace(self.schedule(asked), items=())


class BakesTheValue(Negates):
    """Compiles the value of a variable."""

    def extents(self, asked: Graph) -> tuple[int | str, ...]:
        """Return the number of points."""
        return (asked.variables["n"].value,)


class KeepsTheValue(Negates):
    """Gives the schedule that it made first, whatever the value is now."""

    first: Schedule | None = None

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the first schedule."""
        self.first = self.first or super().schedule(asked)
        return self.first


class RunsAgain(Negates):
    """Forgets what it has realized."""

    def remaining(self, asked: Case | Graph) -> Schedule:
        """Return all items."""
        return self.schedule(asked)


class Hangs(Backend):
    """Never answers."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Sleep."""
        time.sleep(60)
        return EMPTY


def run(backend: Backend, folder: Path, ops: tuple[str, ...] = (GRAPH,), examples: int = 30) -> Result:
    worker = InProcess(BackendSpec("it", ()), backend=backend)
    return explore(Plan(ops=ops, examples=examples, suites=("schedules",)), {"it": worker}, folder)


def test_musts_that_no_schedule_made_speak_are_told(tmp_path: Path) -> None:
    silent = run(Nothing(), tmp_path, examples=9).silent["it"]
    assert {"staging.C1", "waits.C3"} <= set(silent.answers)
    assert "answer.C1" not in silent.clauses


def test_a_schedule_that_is_too_much_to_be_judged_is_not_run_and_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONFORMANCE_MOST_WORK", "1")
    found = run(Nothing(), tmp_path, examples=6)
    assert (found.status, found.failures, "not_run" in found.counts["it"]) == (3, (), True)


def test_what_nobody_schedules_is_counted_and_no_success(tmp_path: Path) -> None:
    found = run(Backend(), tmp_path)
    assert found.counts["it"].keys() == {"unsupported"}
    assert not found.failures
    assert found.status == 3


def test_a_schedule_that_does_nothing_fails_by_a_small_question_that_can_be_judged_again(tmp_path: Path) -> None:
    found = run(Nothing(), tmp_path)
    failure = next(each for each in found.failures if each.clause == "order.C2")
    assert (found.status, failure.op, failure.minimal) == (1, GRAPH, True)
    asked = load_case(tmp_path / failure.file).of
    assert len(asked.nodes) <= 3
    worker = InProcess(BackendSpec("it", ()), backend=Nothing())
    assert "order.C2" in ask_schedule(asked, worker, worker).ways


def test_a_schedule_that_breaks_a_checker_is_an_error_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def breaks(_schedule: Schedule) -> None:
        raise ValueError("negative dimensions are not allowed")

    monkeypatch.setattr("conformance.runner.dialects.schedule_inquiry.judge", breaks)
    (failure,) = run(Nothing(), tmp_path, examples=6).failures
    assert (failure.outcome, failure.clause, failure.error) == ("errored", "answer.C1", "ValueError")


class Dodges(Nothing):
    """Refuses all that it is asked for until it was asked some times."""

    claims: ClassVar = {"schedule_of_graph": {}, "schedule_of_program": {}} | {
        op: {} for op in ("all_gather", "all_reduce", "all_to_all", "broadcast", "permute", "reduce")
    }

    def __init__(self, refused: int) -> None:
        """Refuse the first so many."""
        self.left = refused

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return no item, or refuse."""
        self.left -= 1
        if self.left >= 0:
            raise Unsupported("too hard")
        return EMPTY


def test_who_schedules_programs_may_refuse_none_and_who_schedules_none_may_refuse_all(tmp_path: Path) -> None:
    assert run(Dodges(10**6), tmp_path / "none", (PROGRAM,), 300).counts["it"].keys() == {"unsupported"}
    found = run(Dodges(2), tmp_path / "some", (PROGRAM,), 300)
    records = [each for each in found.records if isinstance(each, CaseRecord)]
    refused = [each.case for each in records if each.detail == "too hard" and each.outcome == "unsupported"]
    assert len(refused) == 2
    last = {each.case: each for each in records}
    assert {(last[name].outcome, last[name].blame) for name in refused} == {("errored", "answer.C1")}


def test_some_graphs_may_be_refused(tmp_path: Path) -> None:
    assert run(Dodges(3), tmp_path).counts["it"]["unsupported"] == 3


def test_a_run_of_schedules_goes_on_where_it_was_and_says_the_same(tmp_path: Path) -> None:
    run(Nothing(), tmp_path, examples=12)
    log = tmp_path / "run.jsonl"
    whole = [each for each in read(log) if isinstance(each, Failure)]
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:5]))
    worker = InProcess(BackendSpec("it", ()), backend=Nothing())
    plan = Plan(ops=(GRAPH,), examples=12, suites=("schedules",))
    again = explore(plan, {"it": worker}, tmp_path, resume=True)
    assert (again.resumed, again.differing) == (4, ())
    assert {each.clause for each in again.failures} == {each.clause for each in whole}


@pytest.mark.parametrize(
    ("backend", "broken"),
    [
        (Negates, set()),
        (BakesTheValue, {"variables.C7"}),
        (KeepsTheValue, {"variables.C7", "rebound variables.C3", "rebound order.C2"}),
        (RunsAgain, {"order.C6"}),
    ],
)
def test_other_values_and_what_remains_are_asked_for(backend: type[Backend], broken: set[str]) -> None:
    with Worker(spec_of(backend)) as worker, Worker(spec_of(backend)) as other:
        judged = ask_schedule(SYMBOLIC, worker, other)
    assert judged.missing is None
    assert judged.ways.keys() == broken
    assert judged.second.keys() == {"again", "cached", "dropped", "unplanned", "rebound", "afterwards"}


def test_who_keeps_no_values_is_not_judged_by_what_remains() -> None:
    class Eager(Negates):
        remaining = Backend.remaining

    worker = InProcess(BackendSpec("it", ()), backend=Eager())
    judged = ask_schedule(SYMBOLIC, worker, worker)
    assert judged.second.keys() == {"again", "cached", "dropped", "unplanned", "rebound"}
    assert judged.ways == {}


def test_a_second_question_that_nobody_got_fails_nothing() -> None:
    class Spent(InProcess):
        count = 0

        def ask(self, case: Request) -> Answer:
            self.count += 1
            return super().ask(case) if self.count < 3 else Answer(Broken("not_run", "the time budget was spent"))

    worker = Spent(BackendSpec("it", ()), backend=Negates())
    judged = ask_schedule(SYMBOLIC, worker, worker)
    assert judged.missing is not None
    assert (judged.missing.outcome, judged.ways) == ("not_run", {})


def test_the_same_seed_asks_the_same() -> None:
    assert drawn(12, 3) == drawn(12, 3) != drawn(12, 4)


def test_a_backend_that_hangs_is_stopped() -> None:
    limits = Limits(case=0.5, restarts=1)
    with Worker(spec_of(Hangs), limits) as worker:
        answer = worker.ask(Question(ASKED))
    assert isinstance(answer.result, Broken)
    assert answer.result.outcome == "timeout"


@pytest.mark.parametrize("backend", [Views, Backend])
def test_a_schedule_comes_from_a_process_of_its_own(backend: type[Backend]) -> None:
    spec = spec_of(backend)
    with Worker(spec) as worker:
        seen: Answer = worker.ask(Question(ASKED))
    assert not isinstance(seen.result, Broken)
    assert (seen.result.schedule == EMPTY) == (backend is Views)
    assert [error.category for error in seen.result.errors if error] == ([] if backend is Views else ["unsupported"])


def test_a_schedule_with_a_graph_of_its_own_is_judged_by_what_was_asked(tmp_path: Path) -> None:
    class Lies(Backend):
        def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
            if isinstance(asked, Case):
                raise Unsupported("no programs")
            return replace(EMPTY, graph=Graph(nodes=(), results=()))

    assert run(Lies(), tmp_path, examples=6).status == 1
