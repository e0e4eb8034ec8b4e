"""Steps of training, timed in turn by everybody, beside what the native engine needs for their parts."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final

import msgspec

from conformance.backends.opencl.settings import COMMUNICATION, WITHOUT
from conformance.bench.collectives.driver import DrivenPeer, PeerStart, prepared
from conformance.bench.overlap.steps import Step
from conformance.bench.turns import in_turn

OFF: Final = "opencl-off"

PEERS: Final[dict[str, PeerStart]] = {
    "opencl": PeerStart("one process", "opencl", bench="overlap"),
    OFF: PeerStart("one process", "opencl", bench="overlap", environment={WITHOUT: ",".join(COMMUNICATION)}),
    "jax": PeerStart("one process", "jax", bench="overlap"),
    "torch": PeerStart("a process a rank", "torch", bench="overlap"),
}
"""By name; ``OFF`` is the native engine without all that it does to communication."""

TURN: Final = 0.1
"""Seconds that a turn should take at least."""

MOST_RUNS: Final = 20
"""Runs in a turn at most."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Who took how long for a step, in microseconds: the median over the rounds, and the least.

    ``bound`` is the time as a multiple of the step's ``Bound``. ``ahead`` is how many times as long the fastest other
    system takes, in the same rounds. ``wrong`` counts elements.
    """

    peer: str
    step: str
    time_us: float
    least_us: float
    wrong: int
    bound: float | None = None
    ahead: float | None = None
    error: str = ""


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """What a step cannot be faster than on the native engine, in microseconds: the greatest of three.

    ``computation`` and ``communication`` are those of each alone, and ``cores`` what all cores together were busy with
    both, shared out over them.
    """

    step: str
    computation_us: float
    communication_us: float
    cores_us: float

    @property
    def most(self) -> float:
        """Return the greatest."""
        return max(self.computation_us, self.communication_us, self.cores_us)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """All rows and bounds, what each peer says of itself, and traces of the native engine by step."""

    ranks: int
    rows: tuple[Row, ...]
    bounds: tuple[Bound, ...]
    peers: dict[str, dict[str, str]]
    timelines: dict[str, Any] = {}


def measure(
    names: Sequence[str],
    steps: Sequence[Step],
    repeats: int,
    tell: Callable[[str], None] = lambda line: None,
    *,
    timelines: bool = False,
) -> Measured:
    """Return everybody's times for steps between as many ranks, in ``repeats`` rounds.

    Raise ``PeerError`` for one who does not start; who fails at a step has the error in the row.
    """
    (ranks,) = {step.ranks for step in steps}
    rows: list[Row] = []
    bounds: list[Bound] = []
    traces: dict[str, Any] = {}
    with ExitStack() as stack:
        peers = {name: stack.enter_context(DrivenPeer(name, ranks, sys.executable, PEERS[name])) for name in names}
        described = {name: peer.describe() for name, peer in peers.items()}
        for step in steps:
            tell(step.name)
            found, bound = timed(step, peers, repeats)
            rows += found
            bounds += [bound] if bound is not None else []
            if timelines and any(row.peer == "opencl" and not row.error for row in found):
                traces[step.name] = peers["opencl"].first("timeline")
    return Measured(ranks=ranks, rows=tuple(rows), bounds=tuple(bounds), peers=described, timelines=traces)


def timed(step: Step, peers: Mapping[str, DrivenPeer], repeats: int) -> tuple[list[Row], Bound | None]:
    """Return a row for everybody, and the bound where the native engine is among them."""
    errors, wrong, turns = prepared(step, peers, TURN, MOST_RUNS)
    parts: list[dict[str, tuple[float, float]]] = []

    def measured_apart(name: str) -> None:
        if name == "opencl":
            parts.append(peers[name].first("parts", times=turns[name]))

    took = in_turn(peers, turns, errors, repeats, measured_apart)
    bound = bound_of(step, parts) if "opencl" in took.medians else None
    rows = [_row(step, name, took.medians, took.least[name], wrong[name], bound) for name in took.medians]
    nothing = float("nan")
    for name, why in errors.items():
        rows.append(Row(peer=name, step=step.name, time_us=nothing, least_us=nothing, wrong=-1, error=why))
    return rows, bound


def bound_of(step: Step, parts: Sequence[Mapping[str, tuple[float, float]]]) -> Bound:
    """Return the bound of rounds in which each part took so many seconds, and so many of all cores together."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = [sum(spent for _, spent in each.values()) / cores for each in parts]
    return Bound(
        step=step.name,
        computation_us=statistics.median(each["computation"][0] for each in parts) * 1e6,
        communication_us=statistics.median(each["communication"][0] for each in parts) * 1e6,
        cores_us=statistics.median(busy) * 1e6,
    )


def _row(
    step: Step, name: str, medians: Mapping[str, Sequence[float]], least: float, wrong: int, bound: Bound | None
) -> Row:
    own = medians[name]
    system = name.partition("-")[0]
    others = [column for other, column in medians.items() if other.partition("-")[0] != system]
    fastest = min(others, key=statistics.median, default=None)
    time_us = statistics.median(own) * 1e6
    return Row(
        peer=name,
        step=step.name,
        time_us=time_us,
        least_us=least * 1e6,
        wrong=wrong,
        bound=None if bound is None else time_us / bound.most,
        ahead=None
        if fastest is None
        else statistics.median(one / other for one, other in zip(fastest, own, strict=True)),
    )
