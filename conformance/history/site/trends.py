"""How long things take over time, with a band of noise and a control, and when that is worth a look.

A point is one run. The band comes from the points before: their median, and three times what the median absolute
deviation of normal noise would be, at least five in a hundred. There is no alert with fewer than three points before,
nor where the control, a copy of memory in the same run, moved as well: then the machine did.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from statistics import median
from typing import Final, Literal, NamedTuple

from conformance.history.site.overview import Overview

LEAST: Final = 3
"""Points before the last one without which nothing is said: asv#933."""

WIDTH: Final = 3 * 1.4826
"""Times the median absolute deviation: three standard deviations of normal noise."""

FLOOR: Final = 0.05
"""Of the median: steps below are never told; asv takes the same."""

USED: Final = 20
"""Points before the last one that the band is made of."""

COPY: Final = "copy"
"""The backend that is the control: a copy of memory."""

Moved = Literal["slower", "faster"]


class Point(NamedTuple):
    """One run: its place, and microseconds."""

    place: int
    value: float


class Trend(NamedTuple):
    """A series on one machine, its control in the same runs, the band, and whether the last point left it."""

    backend: str
    what: str
    machine: str
    points: tuple[Point, ...]
    control: tuple[Point, ...]
    low: float | None
    high: float | None
    moved: Moved | None
    says: str


def trends(connection: sqlite3.Connection, made: Overview) -> list[Trend]:
    """Return every series of what was measured, those that moved first."""
    machines = {one.run: one.machine for one in made.runs}
    series: dict[tuple[str, str, str], list[Point]] = {}
    for run, backend, op, size, ranks, value in connection.execute(
        "SELECT run, backend, op, size, ranks, median_us FROM measurements"
    ):
        what = f"{op}, {_bytes(size)}, {ranks} ranks"
        series.setdefault((backend, what, machines[run]), []).append(Point(made.place[run], value))
    found = []
    for (backend, what, machine), points in sorted(series.items()):
        if backend != COPY:
            control = {one.place: one for one in series.get((COPY, what, machine), ())}
            ordered = sorted(points)
            beside = tuple(control[one.place] for one in ordered if one.place in control)
            found.append(
                Trend(backend, what, machine, tuple(ordered), beside, *_band(ordered), *moved(ordered, beside))
            )
    return sorted(found, key=lambda one: one.moved is None)


def _bytes(size: int) -> str:
    for unit, name in ((2**20, "MiB"), (2**10, "KiB")):
        if size >= unit and not size % unit:
            return f"{size // unit} {name}"
    return f"{size:,} bytes"


def _band(points: Sequence[Point]) -> tuple[float | None, float | None]:
    """Return what the last point is held against; nothing with too few points before it."""
    before = [one.value for one in points[:-1]][-USED:]
    if len(before) < LEAST:
        return None, None
    middle = median(before)
    width = max(WIDTH * median(abs(one - middle) for one in before), FLOOR * middle)
    return middle - width, middle + width


def moved(points: Sequence[Point], control: Sequence[Point]) -> tuple[Moved | None, str]:
    """Return whether the last point left its band and the control stayed, with a sentence."""
    low, high = _band(points)
    if low is None or high is None:
        return None, f"{len(points)} points: too few to tell"
    last = points[-1]
    if low <= last.value <= high:
        return None, "within the noise"
    word: Moved = "slower" if last.value > high else "faster"
    beside = [one for one in control if one.place <= last.place]
    below, above = _band(beside)
    if not beside or beside[-1].place != last.place or below is None or above is None:
        return None, f"{word}, and there is no control to tell whether the machine was"
    if not below <= beside[-1].value <= above:
        return None, f"{word}, and so is a copy of memory: the machine is"
    middle = median(one.value for one in points[:-1][-USED:])
    return word, f"{word}: {last.value / middle:.2f} times the median before, and a copy of memory is as before"
