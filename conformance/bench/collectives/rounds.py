"""Backends timed in turn on collectives, beside a memory copy."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from conformance.bench.collectives.driver import BOUNDS, COPY, FLOOR, DrivenPeer, prepared
from conformance.bench.collectives.point import ITEM, OPS, Point, rounded
from conformance.bench.turns import in_turn

TURN: Final = 0.04
"""Seconds that a turn should take at least, so that a small collective is timed more than once in it."""

MOST_RUNS: Final = 50
"""Runs in a turn at most."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One backend on one operation and size, in the columns of nccl-tests.

    ``size`` is in bytes a rank, ``count`` in elements a rank brings, times in microseconds, bandwidths in GB/s (1e9).
    ``copy`` is the time as a multiple of the memory copy's in the same round, ``ahead`` how many times as long the
    fastest other backend takes (above 1: this one is faster); both are medians over the rounds. ``launch_us`` is the
    time until the call came back, where it comes back before the result is there. ``wrong`` counts elements.
    """

    backend: str
    op: str
    size: int
    count: int
    type: str
    redop: str
    time_us: float
    least_us: float
    algbw: float
    busbw: float
    wrong: int
    copy: float | None
    ahead: float | None
    launch_us: float | None
    error: str = ""


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """A collective, a computation on the host, and the one started before the other, in microseconds.

    ``share`` is what both at once cost, of the sum of each alone in the same round. All are medians over the rounds.
    """

    backend: str
    op: str
    size: int
    collective_us: float
    computation_us: float
    both_us: float
    share: float


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """All rows, what overlapped, what each peer says of itself, and the size of the last cache in bytes."""

    ranks: int
    cache: int | None
    peers: dict[str, dict[str, str]]
    rows: tuple[Row, ...]
    overlaps: tuple[Overlap, ...]


def measure(
    names: Sequence[str],
    ops: Sequence[str],
    sizes: Sequence[int],
    ranks: int,
    repeats: int,
    tell: Callable[[str], None] = lambda line: None,
    pythons: Mapping[str, str] = MappingProxyType({}),
) -> Measured:
    """Return every backend on every operation and size, timed in ``repeats`` rounds.

    ``pythons`` are the interpreters of those that are in another environment than this.
    Raise ``PeerError`` for a backend that does not start; one that fails on a point has its error in the row.
    """
    rows: list[Row] = []
    overlaps: list[Overlap] = []
    with ExitStack() as stack:
        peers = {
            name: stack.enter_context(DrivenPeer(name, ranks, pythons.get(name, sys.executable)))
            for name in (COPY, *([FLOOR] if "opencl" in names else []), *names)
        }
        described = {name: peer.describe() for name, peer in peers.items()}
        for size in sizes:
            for op in ops:
                point = Point(op, rounded(size, ranks), ranks)
                tell(f"{op} of {point.size} bytes")
                found = _rows(point, peers, repeats)
                rows += found
                # One that could not make the point has nothing to overlap.
                made = any(row.backend == "opencl" and not row.error for row in found)
                if made and op == ops[0] and size == max(sizes):
                    overlaps.append(_overlap(point, peers["opencl"]))
    return Measured(ranks=ranks, cache=last_cache(), peers=described, rows=tuple(rows), overlaps=tuple(overlaps))


def _rows(point: Point, peers: Mapping[str, DrivenPeer], repeats: int) -> list[Row]:
    errors, wrong, turns = prepared(point, peers, TURN, MOST_RUNS)
    took = in_turn(peers, turns, errors, repeats)
    found = [
        _row(point, name, took.medians, took.least[name], took.launching[name], wrong[name]) for name in took.medians
    ]
    return found + [_failed(point, name, error) for name, error in errors.items()]


def _row(
    point: Point,
    name: str,
    medians: Mapping[str, list[float]],
    least: float,
    launching: Sequence[float],
    wrong: int,
) -> Row:
    seconds = statistics.median(medians[name])
    others = [column for other, column in medians.items() if other not in (name, *BOUNDS)]
    fastest = min(others, key=statistics.median) if others and name not in BOUNDS else None
    algbw = point.size / seconds / 1e9
    shape = OPS[point.op]
    return Row(
        backend=name,
        op=point.op,
        size=point.size,
        count=point.brought if name != COPY else point.size * point.ranks // ITEM,
        type="float",
        redop=shape.redop,
        time_us=seconds * 1e6,
        least_us=least * 1e6,
        algbw=algbw,
        busbw=algbw * shape.bus(point.ranks),
        wrong=wrong,
        copy=_ratio(medians[name], medians[COPY]) if COPY in medians else None,
        ahead=None if fastest is None else _ratio(fastest, medians[name]),
        launch_us=statistics.median(launching) * 1e6 if launching else None,
    )


def _failed(point: Point, name: str, error: str) -> Row:
    nothing = float("nan")
    return Row(
        backend=name,
        op=point.op,
        size=point.size,
        count=point.brought,
        type="float",
        redop=OPS[point.op].redop,
        time_us=nothing,
        least_us=nothing,
        algbw=nothing,
        busbw=nothing,
        wrong=-1,
        copy=nothing,
        ahead=None,
        launch_us=None,
        error=error,
    )


def _ratio(one: Sequence[float], other: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def _overlap(point: Point, peer: DrivenPeer) -> Overlap:
    rounds = peer.overlap()
    collective, computation, both = (statistics.median(column) * 1e6 for column in zip(*rounds, strict=True))
    return Overlap(
        backend=peer.name,
        op=point.op,
        size=point.size,
        collective_us=collective,
        computation_us=computation,
        both_us=both,
        share=statistics.median(together / (one + other) for one, other, together in rounds),
    )


def last_cache() -> int | None:
    """Return the bytes of the largest cache of the first core, or ``None`` where the system does not say."""
    found = []
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = file.read_text().strip()
        unit = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
        found.append(int(text.rstrip("KM")) * unit)
    return max(found, default=None)
