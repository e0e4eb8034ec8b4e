"""Random programs: their plain schedule breaks nothing, and one whose items are out of place does before it is run."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.schedule import Schedule, Wait
from conformance.reference.schedule.execute import law, wrong_as_listed
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules import judge, judge_two
from tests.specs.schedules.programs import plain
from tests.specs.schedules.variants import by_edges, planned, started

SEEDS = range(12)


def broken(made: Schedule) -> list[str]:
    return [each.clause for each in judge(made) if each.finding == "broken"]


def out_of_place(made: Schedule, seed: int) -> Schedule:
    """Return the schedule with an item moved, or gone."""
    source, items = random.Random(seed), list(made.items)
    moved = items.pop(source.randrange(len(items)))
    if source.random() < 0.7:
        items.insert(source.randrange(len(items) + 1), moved)
    return replace(made, items=tuple(items))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plain_schedule_breaks_nothing(seed: int) -> None:
    assert broken(plain(seed)) == []


def test_what_gives_other_values_breaks_a_clause_other_than_the_law() -> None:
    wrong = 0
    for seed in SEEDS:
        made = out_of_place(plain(seed), seed)
        if wrong_as_listed(Facts(made)) is not None:
            wrong += 1
            assert set(broken(made)) - {"law.C1"}, seed
    assert wrong > 4


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_between_conflicts_are_enough(seed: int) -> None:
    assert broken(by_edges(plain(seed))) == []


def test_a_missing_edge_is_seen_by_the_law_alone_and_missed() -> None:
    wrong = 0
    for seed in SEEDS:
        made = by_edges(plain(seed), random.Random(seed))
        assert wrong_as_listed(Facts(made)) is None
        if law(Facts(made)) is not None:
            wrong += 1
            assert {"assign.C3", "assign.C4", "assign.C5"} & set(broken(made)), seed
    assert wrong > 4


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_started_may_be_waited_for_as_late_as_its_first_conflict(seed: int) -> None:
    assert broken(started(plain(seed), random.Random(seed))) == []


def test_a_wait_that_comes_after_a_conflict_is_seen_by_the_law_alone_too() -> None:
    late = wrong = 0
    for seed in SEEDS:
        items = list(started(plain(seed), random.Random(seed)).items)
        items.append(items.pop(next(number for number, item in enumerate(items) if isinstance(item, Wait))))
        made = replace(plain(seed), items=tuple(items))
        facts = Facts(made)
        (first,) = facts.handles[items[-1].handle]
        conflict = any(one == first for one, _, _, _ in facts.conflicts)
        seen = law(facts) is not None
        assert conflict or not seen, seed
        assert wrong_as_listed(facts) is None
        late, wrong = late + conflict, wrong + seen
        assert bool({"waits.C3", "waits.C4"} & set(broken(made))) == conflict, seed
    assert late > 4
    assert wrong > 4


def used(made: Schedule) -> Schedule:
    """Return the schedule without the items that serve nothing."""
    while dead := [each.detail for each in judge(made) if (each.clause, each.finding) == ("order.C3", "broken")]:
        name = dead[0].split("'")[1]
        made = replace(made, items=tuple(item for item in made.items if item.id != name))
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_a_memory_plan_breaks_nothing(seed: int) -> None:
    made = used(plain(seed, steps=16, results=2))
    # An arena of their own for copies is the habit of one system.
    assert set(broken(planned(made))) <= {*broken(made), "memory.C11"}
    assert [each.finding for each in judge_two(planned(made), made, "unplanned")] == ["held"]


def test_a_plan_that_gives_bytes_away_too_early_is_seen() -> None:
    wrong = 0
    for seed in SEEDS:
        made = planned(used(plain(seed, steps=16, results=2)), random.Random(seed))
        if wrong_as_listed(Facts(made)) is not None:
            wrong += 1
            assert "memory.C1" in broken(made), seed
    assert wrong > 1
