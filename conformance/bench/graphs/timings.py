"""Competitors timed in turn, round after round, so that whatever else the machine does meets all of them alike."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from conformance.bench.graphs.competitors import COMPETING, Competitor, OfNumPy, Ready
from conformance.bench.graphs.timed_graphs import Timed
from conformance.cases.tensor.dtypes import Array

TURN: Final = 0.03
"""Seconds that a turn should take at least."""

MOST_RUNS: Final = 100
"""Runs in a turn at most."""

REST: Final = 0.005
"""Seconds of a rest between turns: in the last of them no thread of this process ran."""

RESTS: Final = 100
"""Rests between turns at most. Behind a product of matrices OpenBLAS's threads spin for 0.1 s, and who had the turn
after it had one core of two: 4.0 ms for what took 1.9 ms."""

AWAY: Final = 2.0**-14
"""How far a result may lie from that of NumPy in float64, beside the greatest of the result: float32 has 2**-24, and
the longest sum of a square root's growth over 16 million elements 2**12 of that."""

OURS: Final = "opencl"
COPY: Final = "copy"


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """One competitor on one graph and size.

    ``median_us`` is over rounds, ``least_us`` over all runs. ``copy`` and ``ahead`` are medians over the rounds of the
    time as a multiple of the memory copy's, and of the fastest other's as a multiple of this one's (above 1: this one
    is faster). ``error`` says why there is no time: what was raised, or that the result is wrong.
    """

    graph: str
    size: str
    name: str
    median_us: float | None = None
    least_us: float | None = None
    copy: float | None = None
    ahead: float | None = None
    error: str = ""


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """All timings, and the load of the machine in the last minute, before and after."""

    rows: tuple[Timing, ...]
    load: tuple[float, float]


def timings(
    names: Sequence[str],
    graphs: Sequence[Timed],
    sizes: Sequence[str],
    rounds: int,
    tell: Callable[[str], None] = lambda line: None,
    competing: Mapping[str, Competitor] | None = None,
) -> Timings:
    """Return the time of every competitor on every graph and size, the copy's among them."""
    before = os.getloadavg()[0]
    found: list[Timing] = []
    for graph in graphs:
        for size in sizes:
            tell(f"{graph.name}, {size}")
            found += _compared(
                graph, size, (COPY, *(name for name in names if name != COPY)), rounds, competing or COMPETING
            )
    return Timings(rows=tuple(found), load=(before, os.getloadavg()[0]))


def _compared(
    graph: Timed, size: str, names: Sequence[str], rounds: int, competing: Mapping[str, Competitor]
) -> list[Timing]:
    inputs = graph.inputs(size)
    right = np.asarray(graph.made(OfNumPy(), *(each.astype(np.float64) for each in inputs)))
    ready: dict[str, Ready] = {}
    errors: dict[str, str] = {}
    turns: dict[str, int] = {}
    for name in names:
        try:
            ready[name] = made = competing[name](graph, inputs)
            made.run()
            start = time.perf_counter()
            made.run()
            turns[name] = max(1, min(MOST_RUNS, round(TURN / (time.perf_counter() - start))))
        except Exception as error:  # noqa: BLE001 - whoever cannot run it has its reason in the row
            errors[name] = f"{type(error).__name__}: {error}".partition("\n")[0]
    times: dict[str, list[float]] = {name: [] for name in ready if name not in errors}
    least = dict.fromkeys(times, math.inf)
    for number in range(rounds):
        # Each round begins with another, so that nobody always follows the same one.
        order = list(times)
        start_at = number % max(1, len(order))
        for name in order[start_at:] + order[:start_at]:
            _rest()
            seconds = _turn(ready[name].run, turns[name])
            times[name].append(statistics.median(seconds))
            least[name] = min(least[name], *seconds)
    for name in list(times):
        wrong = _wrong(ready[name], right)
        if wrong:
            errors[name] = wrong
            del times[name]
    found = [_timing(graph, size, name, times, least[name]) for name in times]
    return found + [Timing(graph=graph.name, size=size, name=name, error=error) for name, error in errors.items()]


def _rest() -> None:
    """Wait until the threads that spin behind the turn of another have gone to sleep."""
    for _ in range(RESTS):
        before = time.process_time()
        time.sleep(REST)
        if time.process_time() - before < REST / 4:
            return


def _turn(run: Callable[[], object], count: int) -> list[float]:
    found = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return found


def _wrong(ready: Ready, right: Array) -> str:
    """Return what is wrong with a result, if anything."""
    found = ready.array(ready.run())
    if found.shape != right.shape:
        return f"the shape is {found.shape}, and not {right.shape}"
    away = float(np.max(np.abs(found - right))) / float(np.max(np.abs(right)))
    return "" if away <= AWAY else f"the result lies {away:.2g} of the greatest value away"


def _timing(graph: Timed, size: str, name: str, times: Mapping[str, list[float]], least: float) -> Timing:
    others = [column for other, column in times.items() if other not in (name, COPY)]
    fastest = min(others, key=statistics.median) if others and name != COPY else None
    return Timing(
        graph=graph.name,
        size=size,
        name=name,
        median_us=statistics.median(times[name]) * 1e6,
        least_us=least * 1e6,
        copy=_ratio(times[name], times[COPY]) if COPY in times else None,
        ahead=None if fastest is None else _ratio(fastest, times[name]),
    )


def _ratio(one: Sequence[float], other: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def standing(rows: Sequence[Timing], name: str = OURS) -> dict[str, dict[str, float]]:
    """Return by size on how many graphs one is the fastest, and the geometric mean of how far it is ahead."""
    found: dict[str, dict[str, float]] = {}
    for size in dict.fromkeys(row.size for row in rows):
        ahead = [row.ahead for row in rows if row.size == size and row.name == name and row.ahead is not None]
        if ahead:
            mean = math.exp(statistics.fmean(math.log(each) for each in ahead))
            found[size] = {"graphs": len(ahead), "fastest": sum(each > 1 for each in ahead), "mean": mean}
    return found
