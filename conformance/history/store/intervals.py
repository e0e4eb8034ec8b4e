"""Intervals: what a case came to from one run of a series to another, without a row for each run.

A series is the runs of one backend that were asked for the same, in order of time. An interval says that in *every* run
of its series from the first to the last the case came to that. A run in which a case has no record ends its interval:
nothing is said where nothing was seen. So every run can be read off again, whatever the order in which runs were added.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

State = tuple[str, str | None, str | None, str | None]
"""Outcome, clause to blame, its requirement, and the state of what was expected."""


class CaseResult(NamedTuple):
    """What a case came to in a run, and what was seen."""

    state: State
    detail: str | None


class Interval(NamedTuple):
    """A row."""

    interval: int
    number: int
    state: State
    detail: str | None
    first: int
    last: int


def insert(connection: sqlite3.Connection, series: int, run: int, came: Mapping[int, CaseResult]) -> None:
    """Put a run into a series at its time; ``came`` is what it says, by the number of a case."""
    order = [row[0] for row in connection.execute(_ORDER, (series,))]
    at = order.index(run)
    before = order[at - 1] if at else None
    after = order[at + 1] if at + 1 < len(order) else None
    ending = {row[0]: row for row in connection.execute(_ENDING, (series, before))}
    beginning, spanning = _around(connection, series, order, before, after)
    longer = {number for number, row in ending.items() if number in came and row[2:] == came[number].state}
    shorter = [(before, row[1]) for number, row in ending.items() if number not in longer]
    earlier: list[tuple[int, int]] = []
    fresh: list[tuple[int, State, str | None, int, int]] = []
    for number, one in came.items():
        if number in longer:
            continue
        over, begin = spanning.get(number), beginning.get(number)
        if over is not None:
            if over.state != one.state:
                fresh.append((number, one.state, one.detail, run, run))
        elif begin is not None and begin.state == one.state:
            earlier.append((run, begin.interval))
        else:
            fresh.append((number, one.state, one.detail, run, run))
    for number, over in spanning.items():
        here = came.get(number)
        if here is None or here.state != over.state:
            assert before is not None
            assert after is not None
            shorter.append((before, over.interval))
            fresh.append((number, over.state, over.detail, after, over.last))
    # Nearly all go on: all of them are made longer at once, and the few that end there are put back.
    connection.execute("UPDATE intervals SET last_run = ? WHERE series = ? AND last_run = ?", (run, series, before))
    connection.executemany("UPDATE intervals SET last_run = ? WHERE interval = ?", shorter)
    connection.executemany("UPDATE intervals SET first_run = ? WHERE interval = ?", earlier)
    connection.executemany(
        "INSERT INTO intervals (series, number, outcome, clause, requirement, expected, detail, first_run, last_run) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((series, number, *state, detail, first, last) for number, state, detail, first, last in fresh),
    )


_ORDER = "SELECT run FROM members JOIN runs USING (run) WHERE series = ? ORDER BY started, id"
_ENDING = (
    "SELECT number, interval, outcome, clause, requirement, expected FROM intervals WHERE series = ? AND last_run = ?"
)
_ROWS = (
    "SELECT interval, number, outcome, clause, requirement, expected, detail, first_run, last_run FROM intervals "
    "WHERE series = ?"
)

Found = dict[int, Interval]


def _around(
    connection: sqlite3.Connection, series: int, order: list[int], before: int | None, after: int | None
) -> tuple[Found, Found]:
    """Return the intervals that begin just after a run, and those that reach over it, by case."""
    if after is None:
        return {}, {}
    beginning = _rows(connection, f"{_ROWS} AND first_run = ?", (series, after))
    place = {run: number for number, run in enumerate(order)}
    at = place[after]
    every = _every(connection, series) if before is not None else []
    return beginning, {one.number: one for one in every if place[one.first] < at <= place[one.last]}


def _rows(connection: sqlite3.Connection, sql: str, values: tuple[int, ...]) -> Found:
    return {one.number: one for one in _intervals(connection.execute(sql, values))}


def _every(connection: sqlite3.Connection, series: int) -> Iterable[Interval]:
    return _intervals(connection.execute(_ROWS, (series,)))


def _intervals(rows: Iterable[tuple[int, int, str, str, str, str, str, int, int]]) -> Iterable[Interval]:
    for interval, number, outcome, clause, requirement, expected, detail, first, last in rows:
        yield Interval(interval, number, (outcome, clause, requirement, expected), detail, first, last)
