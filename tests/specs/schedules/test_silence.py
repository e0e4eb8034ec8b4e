"""A clause says nothing of a schedule that has nothing it speaks of."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import buffer, planned, schedule
from conformance.cases.schedule.schedule import Collective, Copy, Item, Kernel, Schedule
from conformance.qualification.violations import Violation, violations
from conformance.qualification.violations.memory import chained
from conformance.specs.schedules import CLAUSES, FORM, PAIRS, judge, judge_two
from tests.specs.schedules import test_communication, test_kept, test_storage
from tests.specs.schedules.all_reduces import direct, naive, ring
from tests.specs.schedules.honest import HONEST
from tests.specs.schedules.test_good import assigned, started

Leaf = Kernel | Copy
GOOD: dict[str, Callable[[], Schedule]] = {
    **HONEST, **test_kept.LEGAL, **test_storage.LEGAL, **test_communication.LEGAL, "naive": naive,
    "ring": lambda: started(ring()), "direct": direct, "assigned": assigned,
    "planned": lambda: chained(*planned(0, 256)),
}  # fmt: skip


def findings(made: Schedule) -> dict[str, str]:
    return {each.clause: each.finding for each in judge(made)}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_schedule_breaks_nothing(name: str) -> None:
    assert [each for each in judge(HONEST[name]()) if each.finding == "broken"] == []


def test_every_clause_is_held_by_an_honest_schedule() -> None:
    held = {clause for make in GOOD.values() for clause, finding in findings(make()).items() if finding == "held"}
    assert {clause.id for clause in (*FORM, *CLAUSES)} - held == set()


def test_of_a_schedule_that_has_nothing_nothing_is_said() -> None:
    assert set(findings(schedule([], [])).values()) == {"silent"}
    only = {clause for clause, finding in findings(schedule([buffer("a")], [])).items() if finding == "held"}
    assert only == {"form.C3", "form.C8"}


def test_of_schedules_in_which_nothing_is_done_nothing_is_said() -> None:
    nothing = schedule([buffer("a")], [])
    for clause in PAIRS:
        assert {each.finding for each in judge_two(nothing, nothing, clause.relation)} == {"silent"}


def unlabelled(made: Schedule) -> Schedule:
    def leaf(each: Leaf) -> Leaf:
        return replace(each, provenance=(), accesses=tuple(replace(access, node=None) for access in each.accesses))

    def bare(item: object) -> object:
        if isinstance(item, Collective) and item.parts:
            return replace(item, parts=tuple(map(leaf, item.parts)))
        return leaf(item) if isinstance(item, Kernel | Copy | Collective) else item

    return replace(made, items=tuple(map(bare, made.items)))


def unnamed(made: Schedule) -> Schedule:
    def bare(item: Item) -> Item:
        return replace(item, algorithm="", algorithms=()) if isinstance(item, Collective) else item

    return replace(made, items=tuple(map(bare, made.items)))


def unplanned(made: Schedule) -> Schedule:
    return replace(made, buffers=tuple(replace(each, planned=False) for each in made.buffers))


def apart(made: Schedule) -> Schedule:
    items = [item.parts if isinstance(item, Collective) and item.parts else (item,) for item in made.items]
    return replace(made, items=tuple(each for some in items for each in some))


ONE = [each for each in violations() if isinstance(each.make(), Schedule) and not each.breaks.startswith("form.")]


@pytest.mark.parametrize("strip", [unlabelled, unnamed, unplanned, apart])
@pytest.mark.parametrize("violation", ONE, ids=lambda violation: violation.name)
def test_what_is_gone_is_not_held(violation: Violation, strip: Callable[[Schedule], Schedule]) -> None:
    made = violation.make()
    assert isinstance(made, Schedule)
    found = findings(strip(made))
    assert found[violation.breaks] != "held"
