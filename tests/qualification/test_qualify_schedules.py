"""The clauses about schedules are qualified too: by schedules that violate them, and engines that schedule wrongly."""

from __future__ import annotations

import re

import pytest

from conformance.backends.base import Backend
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.builders import given, schedule
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.qualify import qualify
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.schedule_mutants.engine import Engine
from conformance.qualification.schedule_mutants.hazards import MergedItemNeedsItself
from conformance.qualification.schedule_mutants.storage import ForcedCopyElided
from conformance.qualification.schedule_mutants.values import LongSumsThroughDoubles
from conformance.qualification.violations import Violation, violations


class NothingNew(Engine):
    """Makes of every schedule the same."""

    breaks = "law.C1"

    def spoil(self, made: Schedule) -> Schedule:
        return made


class NoSuchClause(NothingNew):
    """Names no clause."""

    breaks = "law.C99"


class Raises(Engine):
    """Has a slip of its own."""

    breaks = "law.C1"
    spoil = NothingNew.spoil

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        raise AttributeError("a slip")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_engine_that_schedules_wrongly_is_killed_by_its_clause(seed: int) -> None:
    often = [mutant for mutant in schedule_mutants() if seed or mutant is not ForcedCopyElided]
    found = qualify(often, examples=200, seed=seed)
    assert found.survivors == ()
    assert all(row.breaks in row.clauses for row in found.mutants)


@pytest.mark.slow  # sixty graphs are scheduled twice and compared
def test_a_forced_copy_that_matters_is_drawn_on_other_seeds_than_the_first() -> None:
    assert qualify([ForcedCopyElided], examples=60, seed=1).survivors == ()


def test_every_violation_is_killed() -> None:
    found = qualify([MergedItemNeedsItself], examples=10, violated=violations())
    assert found.survivors == ()
    assert [row.name for row in found.mutants[: len(violations())]] == [each.name for each in violations()]


def test_a_violation_that_breaks_another_clause_or_none_survives() -> None:
    good = Violation("order.C1", lambda: schedule(given("a"), []))
    (row, _) = qualify([MergedItemNeedsItself], examples=10, violated=[good]).mutants
    assert (row.killed, row.clause, row.clauses) == (False, None, ())


def test_a_process_of_its_own_sees_the_same() -> None:
    inside, outside = (qualify([MergedItemNeedsItself], examples=10, in_process=here) for here in (True, False))
    assert inside.mutants[0].cases == outside.mutants[0].cases


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        (NothingNew, "^not reached: NothingNew did on"),
        (NoSuchClause, r"NoSuchClause is to break 'law\.C99', which is no clause"),
    ],
)
def test_what_proves_nothing_is_told(mutant: type[Backend], words: str) -> None:
    (row,) = qualify([mutant], examples=10).mutants
    assert not row.killed
    assert re.search(words, row.problem)


def test_what_is_raised_instead_of_a_schedule_is_no_kill_by_the_clause_that_was_meant() -> None:
    (row,) = qualify([Raises], examples=10).mutants
    assert (row.killed, row.clause) == (False, "answer.C1")


def test_an_engine_that_schedules_graphs_wrongly_is_asked_about_graphs_alone() -> None:
    (row,) = qualify([LongSumsThroughDoubles], examples=80).mutants
    assert row.control == "_Narrow"
    assert "answer.C1" not in row.clauses
