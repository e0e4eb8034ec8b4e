"""What is asked for a second time, and what a backend may refuse: nothing that goes wrong there is passed over."""

from __future__ import annotations

import os
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.backends.base import Backend, Unsupported
from conformance.backends.discovery import BackendSpec
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Buffer, Device
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.builders import alu, buffer, elementwise, graph, line, schedule, stored, writes
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.mutant_module import spec_of
from conformance.runner.dialects.schedule_inquiry import JudgedSchedule
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.workers import Worker
from tests.runner.asked_schedules import ask_schedule

EMPTY = Schedule(devices={}, buffers=(), items=())
MALFORMED = replace(EMPTY, buffers=(Buffer(id="x", size=-1, dtype="float32", device="d0"),))
PAIR = (("x", "neg"), ("y", "abs"))
ASKED = graph(stored("a"), stored("b"), results=["a", "b"])


class Views(Backend):
    """Schedules rightly what needs nothing done, and does something else whenever ``second`` has a say."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return no item."""
        assert isinstance(asked, Graph)
        return EMPTY if planned and asked.results == ("a", "b") else self.second(planned=planned)

    def second(self, *, planned: bool) -> Schedule:
        """Return no item either."""
        return EMPTY


def chained(*, waits: bool) -> Schedule:
    """Return a + 2 in a buffer that is seen from outside, and whether its second item waits for the first."""
    items = [
        elementwise("first", "add", writes("t", line()), "a", 1.0, after=()),
        elementwise("then", "add", writes("u", line()), "t", 1.0, after=("first",) if waits else ()),
    ]
    return schedule((buffer("a", preexisting=True), buffer("t"), buffer("u", output=True)), items)


class Races(Views):
    """Orders its items when it is asked first."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the two items."""
        assert isinstance(asked, Graph)
        return chained(waits=planned and asked.results == ("a", "b"))


class Dies(Views):
    """Dies when there is to be no memory plan."""

    def second(self, *, planned: bool) -> Schedule:
        """End the process."""
        if not planned:
            os._exit(3)
        return EMPTY


def asked_of(backend: Backend, other: Backend | None = None) -> JudgedSchedule:
    first, second = (InProcess(BackendSpec("it", ()), backend=each) for each in (backend, other or backend))
    return ask_schedule(ASKED, first, second)


def with_second(answer: Schedule | Exception) -> Backend:
    class Second(Views):
        def second(self, *, planned: bool) -> Schedule:
            if isinstance(answer, Exception):
                raise answer
            return answer

    return Second()


def test_of_what_is_right_every_second_schedule_is_judged() -> None:
    judged = asked_of(Views())
    assert set(judged.second) == {"again", "cached", "reordered", "together", "unplanned"}
    assert not judged.ways


@pytest.mark.parametrize(
    ("answer", "came"), [(ValueError("no"), "errored ValueError"), (MALFORMED, "malformed buffer _"), ("?", "errored")]
)
def test_a_second_question_that_goes_wrong_is_a_failure_of_its_own(answer: Any, came: str) -> None:
    judged = asked_of(with_second(answer))
    ways = [way.partition(" ") for way in judged.ways]
    assert [relation for relation, _, _ in ways] == ["reordered", "together", "unplanned"]
    assert all(rest.startswith(came) for _, _, rest in ways), ways
    assert all(detail.startswith("asked ") for detail in judged.ways.values())


def test_a_schedule_for_other_storages_than_were_asked_about_is_malformed() -> None:
    class Empties(Backend):
        def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
            return replace(EMPTY, buffers=(buffer("a"), buffer("b", preexisting=True)), devices={"d0": Device()})

    assert list(asked_of(Empties()).ways) == [
        "malformed buffer _: it was asked for as a storage of its own, with data at first"
    ]


def test_a_backend_that_dies_without_a_memory_plan_fails() -> None:
    with Worker(spec_of(Dies)) as worker, Worker(spec_of(Dies)) as other:
        judged = ask_schedule(ASKED, worker, other)
    (detail,) = judged.ways.values()
    assert detail == "asked without a memory plan, crashed: exited with status 3 before answering"


def test_a_second_schedule_has_to_keep_every_must_itself() -> None:
    judged = asked_of(Races())
    assert list(judged.ways) == ["reordered assign.C3", "together assign.C3", "unplanned assign.C3"]
    detail = judged.ways["unplanned assign.C3"]
    assert detail.startswith("asked without a memory plan, assign.C3: item 'then' reads 't' of item 'first'")


def test_another_process_that_cannot_fails_by_name() -> None:
    class Cannot(Backend):
        def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
            raise Unsupported("not here")

    assert asked_of(Views(), Cannot()).ways == {
        "again refused not here": "asked again in another process, refused: not here"
    }


def test_only_a_schedule_without_a_plan_and_another_graph_may_be_refused_and_that_is_told() -> None:
    judged = asked_of(with_second(Unsupported("no")))
    assert [way.partition(" ")[0] for way in judged.ways] == ["reordered"]
    asked = "without a memory plan", "for one result and the rest apart"
    assert {f"asked {way}, refused: no" for way in asked} <= set(judged.notes)


def test_a_second_schedule_that_breaks_a_checker_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise IndexError("out of bounds")

    monkeypatch.setattr("conformance.runner.dialects.schedule_inquiry.judge_two", breaks)
    assert "unplanned errored judging: IndexError" in asked_of(Views()).ways


@pytest.mark.parametrize(("right", "ways"), [(True, []), (False, ["reordered order.C2"])])
def test_the_same_items_for_another_order_are_right_where_the_same_results_lie(right: bool, ways: list[str]) -> None:
    wanted = graph(stored("a"), alu("x", "neg", "a"), alu("y", "abs", "a"), results=["x", "y"])

    class Pair(Backend):
        def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
            assert isinstance(asked, Graph)
            asked_first = asked.results == wanted.results or not planned or len(asked.results) == 1
            places = {"x": "x", "y": "y"} if right or asked_first else {"y": "x", "x": "y"}
            items = [elementwise(name, op, writes(name, line(), node=name), "a") for name, op in PAIR]
            buffers = (buffer("a", preexisting=True, held=True), buffer("x"), buffer("y"))
            return schedule(buffers, items, asked, {name: places[name] for name in asked.results})

    first, second = (InProcess(BackendSpec("it", ()), backend=Pair()) for _ in range(2))
    found = ask_schedule(wanted, first, second).ways
    assert [way for way in found if way.startswith("reordered")] == ways, found
