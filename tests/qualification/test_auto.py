"""Automatic mutants are the same for the same seed, and are judged as the runner would."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.cases.types.typed_case import TypedCase
from conformance.qualification.auto.campaign import Profile, _drawn, qualify_auto
from conformance.qualification.auto.conditional.conditions import impossible
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.conditional.without_effect import without_effect
from conformance.qualification.auto.corpus import AutoMutant, corpus
from conformance.qualification.auto.measure import measured
from conformance.qualification.auto.outcome import Row
from conformance.qualification.auto.running.answers import told
from conformance.qualification.auto.running.differences import (
    Kill,
    Seen,
    Unchanged,
    Work,
    allowed,
    blamed,
    failing,
    told_apart,
    verdict_on,
)
from conformance.qualification.auto.running.pool import QUIET, At, Ended, _Child, _result, in_children
from conformance.qualification.auto.running.stages import Stages, Task
from conformance.qualification.auto.running.survey import Ground, Survey, _halves, _known, _surveyed, on_disk
from conformance.qualification.auto.source.changes import CAME, changed_tree, changes
from conformance.qualification.auto.source.families import ENGINE, REFERENCE, every_change
from conformance.qualification.auto.source.shadow import Family, changed_backend, source_of
from conformance.qualification.drawn_cases import FOLDER, Drawn, drawn_cases, keep, undrawn
from conformance.qualification.judged_mutant import fails
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.other_cases import other_cases, undrawn_others
from conformance.qualification.row_file import head
from conformance.reference.transforms.no_rule import NotLinear
from conformance.runner.dialects import dialects, operations, suites
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.in_process import InProcess
from conformance.specs import SUITES

SOURCE = "def double(x: int) -> int:\n    '''Return it twice.'''\n    if x > 0:\n        return x + x\n    return 0\n"


def test_every_change_of_a_module_is_another_program() -> None:
    found = changes("m", SOURCE)
    assert len({change.digest for change in found}) == len(found) > 10
    results = set()
    for change in found:
        made: dict[str, object] = {CAME: lambda: None}
        exec(compile(changed_tree(SOURCE, change), "m", "exec"), made)
        assert change.diff(SOURCE).startswith("m:")
        results.add(tuple(made["double"](x) for x in (-1, 0, 1, 2)))  # type: ignore[operator]
    assert {(0, 0, 0, 0), (-2, 0, 0, 0), (0, 0, 1, 2)} <= results


@pytest.mark.parametrize(
    ("source", "come_to_by"),
    [
        ("def f(x: int) -> int:\n    if x > 0:\n        return x + 1\n    return 0\n", {1}),
        ("def f(x: int) -> int:\n    if x < 0:\n        return 0\n    elif x + 1 > 1:\n        return 2\n", {0, 1}),
        ("f = lambda x: (lambda y: y + 1)(x) if x > 0 else 0\n", {1}),
    ],
)
def test_a_change_says_when_it_is_come_to(source: str, come_to_by: set[int]) -> None:
    change = next(change for change in changes("m", source) if change.kind == "operator")
    told: list[int] = []
    made: dict[str, object] = {CAME: lambda: told.append(0)}
    exec(compile(changed_tree(source, change), "m", "exec"), made)
    come = set()
    for x in (-1, 0, 1):
        told.clear()
        made["f"](x)  # type: ignore[operator]
        come |= {x} if told else set()
    assert come == come_to_by


def test_a_type_that_is_given_a_name_is_left_as_it_is() -> None:
    aliases = "Found = tuple[str, int]\nRule = Callable[[int], Found]\nValue = Found | Rule\n"
    assert not changes("m", aliases)
    assert changes("m", "FOUND = KNOWN[1:]\n")


NOTHING = """
from typing import cast as to
def f(x, y):
    clause = "pairs.C4" if x else "pairs.C3"
    text = f"no such axis as {x + y} of it"
    check(to(int | str, x), "gather.C5", "root")
    class Pair(Struct, frozen=True):
        named: str = hashlib.sha256(encode((x, y))).hexdigest()[:16]
    return x in (y, x), {c for c in y}, zip(x, y, strict=True)
"""


def test_what_cannot_change_anything_is_no_mutant() -> None:
    made = [change.diff(NOTHING).partition("+ ")[2] for change in changes("m", NOTHING)]
    assert any("zip(y, x, strict=True)" in each for each in made)
    idle = ("clause =", "text =", "int & str", "'root', 'gather.C5'", "in (x, y)", "[::-1]", "zip(x, y)", "named")
    assert not [each for each in made if any(word in each for word in (*idle, "=False"))]


def test_a_corpus_depends_on_its_number_and_seed_alone_and_a_third_is_conditional(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All changes of the engine's code take 14 s to list; which are drawn of a list depends on its length alone.
    few = replace(ENGINE, changed=tuple(sorted(ENGINE.changed)[:12]))
    monkeypatch.setattr("conformance.qualification.auto.corpus.ENGINE", few)
    one, again, other = (corpus(30, seed) for seed in (5, 5, 6))
    assert [mutant.digest for mutant in one] == [mutant.digest for mutant in again]
    assert {mutant.digest for mutant in one} != {mutant.digest for mutant in other}
    assert sum(mutant.family == "conditional" for mutant in one) == 10


def test_changed_code_is_seen_by_its_backend_alone() -> None:
    wrong = next(c for c in every_change(REFERENCE) if c.module.endswith(".axis_size") and c.kind == "index")
    made = changed_backend(REFERENCE, wrong)()
    cases = [each.case for each in drawn_cases(0, 20, ("collectives",), ("axis_size",))]
    come_to = vars(type(made))["applied"]
    assert not come_to
    assert any(made.execute(case).results != Reference().execute(case).results for case in cases)
    assert come_to
    assert all(not fails(verdict(meaning(case), Answer(Reference().execute(case)))) for case in cases)


def test_cases_that_do_not_come_to_a_change_say_nothing_of_it() -> None:
    wrong = next(c for c in every_change(REFERENCE) if c.module.endswith(".axis_size") and c.kind == "index")
    drawn = [each for op in ("all_gather", "axis_size") for each in drawn_cases(0, 12, ("collectives",), (op,))]
    work = Work(changed_backend(REFERENCE, wrong), range(len(drawn)), 60.0)
    found = [told_apart(replace(work, cases=cases), drawn, {}, At(0.0), Unchanged(REFERENCE.backend))
             for cases in (range(6), range(len(drawn)))]  # fmt: skip
    assert found[0] == Seen(cases=0)
    assert found[1].differs


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


PLACES = {
    "graph.elementwise": "graph",
    "sharded.parts": "sharded",
    "types.collectives": "typed_program",
    "transforms.transposes": "transposed_program",
    "transforms.batching": "batched_program",
}


@pytest.mark.parametrize("module", PLACES)
def test_changed_code_dies_where_it_is_run(module: str) -> None:
    drawn = other_cases(0, 40, tuple(suites()), (PLACES[module],))
    name, safe = f"conformance.reference.{module}", ("operator", "condition", "order", "dropped term")  # all loops end
    of = [each for each in changes(name, source_of(name)) if each.below and each.kind in safe]
    workers = (InProcess(BackendSpec("m", ()), backend=changed_backend(REFERENCE, each)()) for each in of[:12])
    assert any(failing(worker, each) for worker in workers for each in drawn)


@pytest.mark.parametrize("dialect", ["graph", "global", "types"])
def test_a_wrong_value_and_what_is_not_refused_are_found_in_every_dialect(dialect: str) -> None:
    drawn = other_cases(0, 60, tuple(suites()), dialects()[dialect].ops)
    for effect, legal in (("sign flipped", "legal=yes"), ("not refused", "legal=no")):
        backend = FaultyValues(Fault(effect, frozenset({f"dialect={dialect}", legal}), 0, 0))
        worker = InProcess(BackendSpec("f", ()), backend=backend)
        assert any(failing(worker, each) for each in drawn)


def test_what_breaks_a_may_alone_is_allowed_and_who_ends_there_is_not() -> None:
    every = other_cases(0, 60, ("transforms",), ("transposed_program",))
    one = next(each for each in every if isinstance(dialects()["types"].mean(each.case).no_rule, NotLinear))
    held = {name: list(map(to_array, one.case.inputs[name])) for name in one.case.answered}
    said = []
    for made in (held, {}):
        backend = Reference()
        backend.pullback = lambda *_, made=made: made  # type: ignore[method-assign]
        said.append(verdict_on(InProcess(BackendSpec("f", ()), backend=backend), one))
    assert (allowed(said[0]), blamed(said[0])) == ({"transposes.C13"}, None)
    assert (allowed(said[1]), blamed(said[1])) == (set(), ("transposes.C14", "must"))


def test_the_modules_that_hold_c_are_among_those_that_are_changed() -> None:
    assert set(ENGINE.in_c) < set(ENGINE.changed)


def test_functions_of_the_engine_that_are_left_as_they_are_exist() -> None:
    modules = tuple(name for name in ENGINE.changed if any(each.startswith(f"{name}.") for each in ENGINE.but))
    every = every_change(replace(ENGINE, changed=modules, but=frozenset()))
    assert ENGINE.but <= {f"{change.module}.{change.function}" for change in every}


def test_no_other_mutant_finds_what_changed_names_of_programs_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    family = replace(REFERENCE, environment={"KEPT": "here"}, apart={REFERENCE.changed[0]: {"KEPT": "off"}})
    monkeypatch.setenv("KEPT", "there")
    of = {each.module: each for each in every_change(replace(REFERENCE, changed=REFERENCE.changed[:2]))}
    found = []
    for change in (of[REFERENCE.changed[0]], of[REFERENCE.changed[1]], None):
        with contextlib.suppress(Exception):
            changed_backend(family, change)
        found.append(os.environ["KEPT"])
    assert found == ["off", "here", "here"]


@pytest.mark.slow
def test_what_the_engine_imports_late_is_changed_too() -> None:
    pytest.importorskip("pyopencl")
    real = importlib.import_module("conformance.backends.opencl.runtime.rounds").Graphs
    made = [changed_backend(ENGINE, None)() for _ in range(2)]
    assert len({real, *(type(vars(each)["graphs"]) for each in made)}) == 3


@pytest.mark.slow
def test_every_case_comes_to_what_runs_as_the_engine_is_started() -> None:
    pytest.importorskip("pyopencl")
    drawn = drawn_cases(3, 4, ("collectives",), ("all_gather",))[:3]
    lines = _surveyed(ENGINE, drawn, (0, 3), At(), words=False).lines["conformance.backends.opencl.runtime.session"]
    assert "7" in lines.values()


def test_what_no_legal_case_meets_is_void_and_says_why() -> None:
    assert impossible({"trouble=dies", "legal=no"}) is not None
    assert impossible({"dtype=int8", "values=nan"}) == "no program has a collective with dtype=int8 and values=nan"
    assert impossible({"legal=no", "operation=barrier", "reduction=sum"}) is not None
    assert impossible({"trouble=late", "place=into"}) is not None
    assert impossible({"operation=all_reduce", "reduction=sum", "place=in_place"}) is None
    # Each two of these meet in some collective.
    assert impossible({"reduction=sum", "root=first", "tiled=yes"}) is not None
    assert impossible({"world=8", "members=odd", "root=last"}) is not None
    assert impossible({"legal=no", "world=8", "members=odd", "root=last"}) is None
    assert impossible({"world=8", "members=odd", "root=middle"}) is None


def test_an_effect_that_can_change_nothing_is_void_and_says_why() -> None:
    assert without_effect("NaN lost", frozenset({"reduction=xor"})) == "its results are no floats"
    assert without_effect("NaN lost", frozenset({"reduction=sum"})) is None
    assert without_effect("axes exchanged", frozenset({"operation=axis_size"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"local=one"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"reduction=mean", "dtype=int8"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"reduction=mean"})) is None
    assert without_effect("the operand instead of the result", frozenset({"reduction=sum", "tiled=no"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"members=2", "tiled=no"})) is None
    assert without_effect("written past the target", frozenset({"rank=0", "place=in_place"})) is not None
    assert without_effect("the operand read when it is waited for", frozenset({"start=waited"})) is not None
    assert without_effect("sign flipped", frozenset({"start=never", "place=fresh"})) == "nobody waits for its result"
    assert without_effect("sign flipped", frozenset({"start=never", "place=into"})) is None
    assert without_effect("sign flipped", frozenset({"meetings=none", "axes=one"})) == "it has no operand"
    assert without_effect("refused", frozenset({"trouble=dies"})) is not None
    assert without_effect("refused", frozenset({"trouble=late"})) is None


@pytest.mark.parametrize("effect", ["the operand overwritten", "a call as before returns what that one did"])
def test_what_is_left_of_a_call_shows_where_ranks_go_their_own_ways(effect: str) -> None:
    backend, right = Faulty(Fault(effect, frozenset({"trouble=late"}), 0, 0)), Reference()
    cases = [numbered(SUITES["liveness"].domains["all_reduce"], 0, number)[0] for number in range(45)]
    shown = [backend.execute(case).results != right.execute(case).results for case in cases]
    assert backend.applied >= sum(shown) > 0


def test_an_impossible_number_of_mutants_is_one_line() -> None:
    with pytest.raises(MutantError, match="--auto 0: there are 1 to"):
        qualify_auto(0, Profile(0, 10, tuple(SUITES)))


def test_power_is_measured_of_families_that_have_all_of_their_rows() -> None:
    died = Row(
        name="m", family="conditional", fate="killed", half="seen", cases=1, kills=(Kill("s", "op", 4, "c", "must"),)
    )
    other = msgspec.structs.replace(died, family="engine")
    of_one, of_three, of_nine = (head(f"auto {count}", 0, 300, ("s",), ("op",)) for count in (1, 3, 9))
    assert measured([(of_one, [died])]).families == {"conditional": [{"s op": 4}]}
    assert measured([(of_nine, [died] * 3 + [other])]).families == {"conditional": [{"s op": 4}] * 3}
    assert measured([(of_three, [died, other])]).families.keys() == {"conditional", "engine"}
    with pytest.raises(ValueError, match="seed 0 has 1 rows of 9, and no whole family"):
        measured([(of_nine, [died])])


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


@pytest.mark.parametrize(
    ("family", "cases", "fate"),
    [(ENGINE, 200, "equivalent"), (ENGINE, 199, "survived"), (REFERENCE, 200, "survived")],
)
def test_small_cases_that_are_cut_decide_of_the_engine_where_they_are_many(
    family: Family, cases: int, fate: str
) -> None:
    stages = Stages(Ground(family, (), Survey({})), more=0, jobs=1)
    mutant = AutoMutant("engine", Fault("refused", frozenset(), 0, 0))
    stages._known[mutant.digest] = (0,)
    task = Task(mutant, "small", (), 1.0, Seen(cases=1))
    row = stages._after(task, Seen(cases=cases, cut=True), equivalence=True)
    assert isinstance(row, Row)
    assert row.fate == fate


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
