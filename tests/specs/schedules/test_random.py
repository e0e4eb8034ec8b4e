"""Random programs: their plain schedule breaks nothing, and one whose items are out of place does before it is run."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from conformance.cases.schedule import Schedule
from conformance.reference.schedule import wrong_as_listed
from conformance.reference.schedule_facts import Facts
from conformance.specs.schedules import judge
from tests.specs.schedules.programs import plain

SEEDS = range(25)


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
    assert wrong > 10
