"""``conformance schedule``: schedules judged clause by clause, of a file or of backends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import graph, stored
from conformance.cases.schedule.codec import save_schedule, text
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.violations import violations
from conformance.specs.schedules import CLAUSE_BY_ID, CLAUSES, FORM
from tests.cli.conftest import Conformance
from tests.specs.schedules.all_reduces import ring

BY_NAME = {each.name: each for each in violations()}


def saved(name: str) -> None:
    made = BY_NAME[name].make()
    assert isinstance(made, Schedule)
    save_schedule(made, Path("schedule.json"))


def test_a_good_schedule_ends_with_0_and_says_what_each_clause_says(conformance: Conformance) -> None:
    save_schedule(ring(), Path("schedule.json"))
    ended = conformance("schedule", "schedule.json")
    assert ended.status == 0, ended
    assert "held   law.C1         must   A schedule gives each result and alias a right value" in ended.out
    counts = re.search(r"(\d+) held, 0 broken, (\d+) do not speak of it", ended.out)
    assert counts is not None
    assert int(counts[1]) > 25
    assert int(counts[1]) + int(counts[2]) == len(CLAUSES) + len(FORM)


def test_a_broken_clause_ends_with_1_and_names_the_item(conformance: Conformance) -> None:
    saved("edge_to_the_reader_dropped")
    ended = conformance("schedule", "schedule.json")
    assert ended.status == 1
    assert "broken assign.C4" in ended.out
    assert "item 'writer' writes 'a', read by item 'reader', and does not wait for it" in ended.out


def test_a_broken_should_ends_with_0(conformance: Conformance) -> None:
    saved("dead_source_cloned")
    assert conformance("schedule", "schedule.json").status == 0


def test_as_json(conformance: Conformance) -> None:
    saved("never_waited_for")
    ended = conformance("schedule", "schedule.json", "--json")
    clauses = {each["id"]: each for each in json.loads(ended.out)["clauses"]}
    assert (ended.status, clauses["waits.C1"]["requirement"]) == (0, "should")
    assert clauses["waits.C1"]["finding"] == "broken"
    assert "nothing waits for it" in clauses["waits.C1"]["detail"]
    assert clauses["order.C2"]["finding"] == "silent"


def test_a_second_schedule_is_compared(conformance: Conformance) -> None:
    made = BY_NAME["depends_on_the_process"].make()
    assert isinstance(made, tuple)
    for name, each in zip(("one.json", "two.json"), made, strict=True):
        save_schedule(each, Path(name))
    assert conformance("schedule", "one.json", "--second", "again", "one.json").status == 0
    ended = conformance("schedule", "one.json", "--second", "again", "two.json")
    assert ended.status == 0  # a *should*
    assert "broken order.C8" in ended.out


def test_a_second_schedule_is_judged_itself(conformance: Conformance) -> None:
    wrong = BY_NAME["edge_to_the_reader_dropped"].make()
    assert isinstance(wrong, Schedule)
    save_schedule(wrong, Path("wrong.json"))
    right = replace(wrong, items=tuple(replace(each, after=None) for each in wrong.items))
    save_schedule(right, Path("right.json"))
    assert conformance("schedule", "right.json").status == 0
    ended = conformance("schedule", "right.json", "--second", "unplanned", "wrong.json")
    assert ended.status == 1
    assert "broken assign.C4" in ended.out
    assert "wrong.json: item 'writer' writes 'a'" in ended.out


@pytest.mark.parametrize("name", [each.name for each in violations() if each.breaks.startswith("form.")])
def test_a_malformed_schedule_is_one_line_that_names_it(conformance: Conformance, name: str) -> None:
    made = BY_NAME[name].make()
    assert isinstance(made, Schedule)
    Path("schedule.json").write_text(text(made))
    ended = conformance("schedule", "schedule.json")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "schedule file schedule.json: " in ended.err
    assert not ended.out


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"null", b"{}", b'{"format": 9}'])
def test_a_file_that_is_no_schedule_is_one_line(conformance: Conformance, content: bytes) -> None:
    Path("schedule.json").write_bytes(content)
    ended = conformance("schedule", "schedule.json")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "schedule file schedule.json: " in ended.err


def test_a_missing_file_is_one_line(conformance: Conformance) -> None:
    ended = conformance("schedule", "nowhere.json")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "nowhere.json: it cannot be read: No such file or directory" in ended.err


def test_spec_explains_a_clause_about_schedules(conformance: Conformance) -> None:
    assert (
        "An item that writes what an earlier item reads begins after that one has ended"
        in conformance("spec", "assign.C4").out
    )
    assert {each["id"] for each in json.loads(conformance("spec", "--json").out)["further"]} >= set(CLAUSE_BY_ID)


def test_a_backend_without_schedules_leaves_nothing_to_judge_and_ends_with_3(conformance: Conformance) -> None:
    words = ("run", "-b", "reference", "--suite", "schedules", "--examples", "6", "-o", "out", "--in-process", "--json")
    ended = conformance(*words)
    assert ended.status == 3, ended
    assert json.loads(ended.out)["backends"]["reference"]["outcomes"].keys() == {"unsupported"}


def test_a_second_schedule_is_of_the_same_graph(conformance: Conformance) -> None:
    made = BY_NAME["depends_on_the_process"].make()
    assert isinstance(made, tuple)
    for name, shape in (("one.json", (4,)), ("two.json", (2, 2))):
        save_schedule(replace(made[0], graph=graph(stored("a", shape=shape), results=["a"])), Path(name))
    ended = conformance("schedule", "one.json", "--second", "unplanned", "two.json")
    assert ended.status == 2
    assert "--second unplanned is needed of the graph in one.json, and is of another" in ended.err
