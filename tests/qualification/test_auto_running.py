"""Automatic mutants are run on what may show them, judged as the runner would, and each gets the fate that is shown."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.qualification.asking import fails
from conformance.qualification.auto.campaign import Profile, _drawn, qualify_auto
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.corpus import AutoMutant, corpus
from conformance.qualification.auto.outcome import Row
from conformance.qualification.auto.running import differences
from conformance.qualification.auto.running.answers import told
from conformance.qualification.auto.running.differences import Seen, Unchanged, Work, judged, told_apart
from conformance.qualification.auto.running.planning import NotBuilt, unbuilt
from conformance.qualification.auto.running.pool import QUIET, At, Ended, _Child, _result, in_children
from conformance.qualification.auto.running.stages import LIMITS, UNSEEN, Stages, Task
from conformance.qualification.auto.running.survey import Ground, Survey, _halves, _known, ground, on_disk
from conformance.qualification.auto.source.families import ENGINE, REFERENCE, every_change
from conformance.qualification.auto.source.shadow import Family, changed_backend
from conformance.qualification.drawn_cases import Drawn, drawn_cases, undrawn
from conformance.qualification.kept import FOLDER, keep
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.other_cases import other_cases, undrawn_others
from conformance.runner.dialects import operations, suites
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer
from conformance.specs import SUITES


def test_cases_that_do_not_come_to_a_change_say_nothing_of_it() -> None:
    wrong = next(c for c in every_change(REFERENCE) if c.module.endswith(".axis_size") and c.kind == "index")
    drawn = [each for op in ("all_gather", "axis_size") for each in drawn_cases(0, 12, ("collectives",), (op,))]
    work = Work(changed_backend(REFERENCE, wrong), range(len(drawn)), 60.0)
    found = [told_apart(replace(work, cases=cases), drawn, {}, At(0.0), Unchanged(REFERENCE.backend))
             for cases in (range(6), range(len(drawn)))]  # fmt: skip
    assert found[0] == Seen(cases=0)
    assert found[1].differs


class Planner(Reference):
    """Has kernels that may be left unbuilt, and says what was come to."""

    def __init__(self) -> None:
        self.applied: set[int] = set()
        self.session = SimpleNamespace(kernels=SimpleNamespace())


def test_no_case_is_run_whose_plan_does_not_come_to_the_change(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, backend = drawn_cases(0, 3, ("collectives",), ("all_gather",)), Planner()
    asked: list[tuple[int, bool]] = []

    def ask(_: object, each: Drawn) -> str:
        asked.append((each.index, "build" in vars(backend.session.kernels)))
        backend.applied.update({0} if each is drawn[1] else ())
        return ""

    monkeypatch.setattr(differences, "asked", ask)
    right, work = {each.name: "" for each in drawn}, Work(lambda: backend, range(3), 60.0, planned=True)
    found = judged(work, drawn, right, At(0.0), Unchanged(REFERENCE.backend))
    first, second, third = (each.index for each in drawn)
    assert asked == [(first, True), (second, True), (second, False), (third, True)]
    assert found == Seen(cases=3)


def test_what_would_be_built_is_said_and_is_built_afterwards() -> None:
    backend = Planner()
    with unbuilt(backend), pytest.raises(NotBuilt):
        backend.session.kernels.build({})
    assert not vars(backend.session.kernels)


def test_schedules_are_asked_for_though_nobody_knows_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = other_cases(0, 1, ("schedules",), ("schedule_of_graph", "schedule_of_program"))
    call = drawn_cases(0, 1, ("collectives",), ("axis_size",))[0]
    asked: list[str] = []
    monkeypatch.setattr(differences, "asked", lambda _, each: asked.append(each.name) or "as ever")
    seen = judged(Work(Reference, range(3), 60.0), (one, call, other), {}, At(0.0), Unchanged(REFERENCE.backend))
    assert (seen.cases, seen.kills, seen.differs) == (2, (), False)
    assert set(asked) == {one.name, other.name}


def test_a_kill_is_what_the_runner_calls_a_failure() -> None:
    seed, profile = 3, Profile(3, 12, ("collectives", "aliasing"), ("all_gather", "broadcast"))
    found, rows = qualify_auto(18, profile, families=("reference", "conditional"), more=12, equivalence=False)
    assert found.controls == {"reference": "passed", "conditional": "passed"}
    drawn = drawn_cases(profile.seed, profile.examples, profile.suites, profile.ops)
    by_name = {f"{mutant.family}-{mutant.digest}": mutant for mutant in corpus(18, seed)}
    killed = [row for row in rows if row.fate == "killed" and row.kills[0].suite]
    assert killed
    for row in killed[:3]:
        made = by_name[row.name].made
        backend = Faulty(made) if isinstance(made, Fault) else changed_backend(REFERENCE, made)()
        kill = row.kills[0]
        failing = [
            each.index
            for each in drawn
            if (each.suite, each.op) == (kill.suite, kill.op)
            and fails(verdict(meaning(each.case), Answer(backend.execute(each.case))))
        ]
        assert failing[0] == kill.index


def test_an_impossible_number_of_mutants_is_one_line() -> None:
    with pytest.raises(MutantError, match="--auto 0: there are 1 to"):
        qualify_auto(0, Profile(0, 10, tuple(SUITES)))


def test_a_survey_whose_process_ends_is_run_in_halves_down_to_one_case() -> None:
    assert _halves((4, 9), "it ended") == [(4, 6), (6, 9)]
    with pytest.raises(MutantError, match="it ended, so that"):
        _halves((4, 5), "it ended")


def test_a_survey_that_was_ended_goes_on_with_the_halves_that_it_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert _known((0, 8), on_disk("s")) == ([], [(0, 8)])
    for name in ("s-0-4", "s-6-8", "s-more-0-8", "t-0-8"):
        keep(name, Survey({}))
    assert _known((0, 8), on_disk("s")) == ([(0, 4), (6, 8)], [(4, 6)])
    assert _known((0, 2), {(0, 2), (2, 4)}) == ([(0, 2)], [])


def test_answers_alone_are_those_that_are_known_where_lines_are_traced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    drawn = drawn_cases(0, 12, ("collectives",), ("all_gather",))
    answers, traced = (ground(REFERENCE, drawn, name, lines=name == "traced", jobs=1) for name in ("plain", "traced"))
    assert answers.survey.answers == traced.survey.answers
    assert len(answers.survey.answers) == len(drawn)
    assert (bool(answers.lines), bool(traced.lines)) == (False, True)


def test_the_order_in_which_an_answer_names_results_is_no_difference() -> None:
    block = (from_array(np.zeros(2)),)
    one, other = Observation(results={"a": block, "b": block}), Observation(results={"b": block, "a": block})
    assert told(Answer(one)) == told(Answer(other)) != told(Answer(Observation(results={"a": block})))


def test_what_other_processes_draw_is_what_is_drawn_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    profile = Profile(7, 8, ("collectives",), ("all_gather", "scan"))
    of = (profile.seed, profile.examples, profile.suites, profile.ops)
    names = []
    for folder, draw in (("here", lambda: drawn_cases(*of)), ("there", lambda: _drawn(profile, 2))):
        monkeypatch.setenv(FOLDER, str(tmp_path / folder))
        assert len(undrawn(*of)) == 2
        names.append([each.name for each in draw()])
        assert not undrawn(*of)
    assert names[0] == names[1] != []


def test_cases_of_other_dialects_are_the_same_from_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    of = (7, 4, tuple(suites()), tuple(operations()))
    assert undrawn_others(*of)
    drawn = other_cases(*of)
    assert not undrawn_others(*of)
    assert other_cases(*of) == drawn
    assert {type(each.case) for each in drawn} >= {ScheduleCase, GraphCase, ShardedCase, TypedCase}


def test_a_task_that_is_added_is_run_and_no_process_takes_what_others_could() -> None:
    waiting, ran = deque(range(4)), {}
    for task, process in in_children(waiting, lambda *_: os.getpid(), jobs=2, batch=4):
        ran[task] = process
        if task == 0:
            waiting.append(9)
    assert sorted(ran) == [0, 1, 2, 3, 9]
    assert ran[0] == ran[1] != ran[2]
    assert ran[9] != ran[0]


def test_time_in_which_nobody_looks_is_no_sign_that_a_process_hangs() -> None:
    context = multiprocessing.get_context("fork")
    process = context.Process(target=time.sleep, args=(60,), daemon=True)
    process.start()
    child = _Child([0], process, context.Pipe()[0], At())
    assert _result(child, ended=False) is None
    child.looked -= 2 * QUIET
    assert _result(child, ended=False) is None
    child.quiet = 2 * QUIET
    assert _result(child, ended=False) == (Ended("hung", -1),)
    process.join()


def test_a_case_that_the_system_ends_a_process_in_has_to_do_so_twice() -> None:
    stages = Stages(Ground(REFERENCE, (), Survey({})), more=0, jobs=1)
    mutant = AutoMutant("conditional", Fault("refused", frozenset(), 0, 0))
    task = Task(mutant, "first", (1, 2, 3), 1.0)
    assert stages._again(task, Ended("hung", 3)) is None
    again = stages._again(task, Ended("ended by signal 6", 3))
    assert again is not None
    assert again.cases == [3, 1, 2]
    assert stages._again(again, Ended("ended by signal 6", 3)) is None
    assert stages._again(again, Ended("ended by signal 6", 2)) is not None


@pytest.mark.parametrize(("permitted", "fate"), [(("starts.C13",), "equivalent"), ((), "survived")])
def test_what_no_small_case_comes_to_is_equivalent_where_a_may_alone_is_broken(
    permitted: tuple[str, ...], fate: str
) -> None:
    stages = Stages(Ground(REFERENCE, (), Survey({})), more=0, jobs=1)
    mutant = AutoMutant("conditional", Fault("refused", frozenset(), 0, 0))
    stages._known[mutant.digest] = (0, 1)
    row = stages._after(Task(mutant, "small", (), 1.0, Seen(cases=2, permitted=permitted)), Seen(), equivalence=True)
    assert isinstance(row, Row)
    assert row.fate == fate


@pytest.mark.parametrize("family", [ENGINE, REFERENCE])
@pytest.mark.parametrize(("cut", "fate"), [(False, "equivalent"), (True, "survived")])
def test_small_cases_decide_where_all_were_run(family: Family, cut: bool, fate: str) -> None:
    stages = Stages(Ground(family, (), Survey({})), more=0, jobs=1)
    mutant = AutoMutant("engine", Fault("refused", frozenset(), 0, 0))
    stages._known[mutant.digest] = (0,)
    task = Task(mutant, "small", (), 1.0, Seen(cases=1))
    row = stages._after(task, Seen(cases=20_000, cut=cut), equivalence=True)
    assert isinstance(row, Row)
    assert row.fate == fate
    assert ("no time for all" in row.reason) == cut


@pytest.mark.parametrize(("values", "cut", "fate"), [(False, False, "equivalent"), (True, False, "survived"),
                                                     (False, True, "survived")])  # fmt: skip
def test_who_makes_other_schedules_and_right_ones_is_equivalent_by_values(values: bool, cut: bool, fate: str) -> None:
    stages = Stages(Ground(ENGINE, (), Survey({})), more=0, jobs=1)
    mutant = AutoMutant("engine", Fault("refused", frozenset(), 0, 0))
    stages._known[mutant.digest] = (0,)
    task = Task(mutant, "small", (), 1.0, Seen(cases=1, differs=True, values=values))
    row = stages._after(task, Seen(cases=20_000, cut=cut), equivalence=True)
    assert isinstance(row, Row)
    assert (row.fate, row.rescheduled) == (fate, fate == "equivalent")
    assert ("its schedules differ and break no clause" in row.reason) == row.rescheduled


@pytest.mark.parametrize(("cut", "reason"), [(True, "there was no time for all cases"), (False, "")])
def test_what_is_not_reached_says_whether_all_cases_were_run(cut: bool, reason: str) -> None:
    stages = Stages(Ground(ENGINE, (), Survey({})), more=0, jobs=1)
    mutant = AutoMutant("engine", Fault("refused", frozenset(), 0, 0))
    stages._known[mutant.digest] = ()
    row = stages._after(Task(mutant, "rest", (), 1.0), Seen(cases=9, applied=False, cut=cut), equivalence=True)
    assert isinstance(row, Row)
    assert (row.fate, row.reason) == ("not_reached", reason)


def test_cases_are_run_for_a_change_that_no_plan_comes_to() -> None:
    stages = Stages(Ground(ENGINE, (), Survey({})), more=0, jobs=1)
    mutant = AutoMutant("engine", next(change for change in every_change(ENGINE) if change.below))
    task, seen = Task(mutant, "rest", (1, 2), 1.0), Seen(cases=2, applied=False)
    again = stages._after(task, seen, equivalence=True)
    assert again == replace(task, seen=UNSEEN.before(seen), seconds=LIMITS[ENGINE.name].rest, unplanned=True)
    row = stages._after(again, seen, equivalence=True)
    assert isinstance(row, Row)
    assert row.fate == "not_reached"


def test_cases_of_operations_that_came_to_a_change_are_run_before_others() -> None:
    change = next(change for change in every_change(REFERENCE) if change.below)
    drawn = [Drawn("s", op, index, f"{op}{index}") for index in range(3) for op in ("a", "b")]
    come = {change.module: {change.lines[0]: f"{0b10:x}"}}
    stages = Stages(Ground(REFERENCE, tuple(drawn[:2]), Survey({}, come)), drawn[2:], more=0, jobs=1)
    assert [stages._drawn[number].name for number in stages._likely(change)] == ["b1", "b2", "a1", "a2"]
    never = next(other for other in every_change(REFERENCE) if other.below and other.module != change.module)
    assert [stages._drawn[number].name for number in stages._likely(never)] == ["a1", "b1", "a2", "b2"]


def test_where_no_case_comes_to_a_module_those_of_its_package_tell() -> None:
    come = {"a.b.c": {1: "2"}, "a.bc": {1: "4"}, "a.d.e": {1: "8", 2: "1"}}
    found = Ground(REFERENCE, (), Survey({}, come))
    assert [found.entering(module) for module in ("a.b.c", "a.b.x", "a.d.e", "b.x")] == [[1], [1], [0, 3], []]


def test_plans_tell_of_a_change_where_those_of_the_cases_that_come_to_it_do() -> None:
    change = next(change for change in every_change(REFERENCE) if change.below)
    module, line = change.module, change.lines[0]
    come = {module: dict.fromkeys((line, -1, -2), "1")}
    assert Ground(REFERENCE, (), Survey({}, come, planned={module: [line]})).shown(change)
    assert not Ground(REFERENCE, (), Survey({}, come, planned={module: [-1, -2]})).shown(change)
    # No case comes to the change: plans come to all the rest of the module, or to some of it.
    del come[module][line]
    assert Ground(REFERENCE, (), Survey({}, come, planned={module: [-1, -2]})).shown(change)
    assert not Ground(REFERENCE, (), Survey({}, come, planned={module: [-1]})).shown(change)
