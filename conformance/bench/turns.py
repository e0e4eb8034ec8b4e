"""Peers that take turns, round after round, so that whatever else the machine does meets all of them alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

import msgspec

from conformance.bench.collectives.driver import DrivenPeer, PeerError


class Times(msgspec.Struct, frozen=True):
    """What each peer took that failed in no turn, in seconds.

    ``medians`` has one for each round, ``least`` the least of all runs, and ``launching`` the time of each run until
    the call came back, where it comes back before the result is there.
    """

    medians: dict[str, list[float]]
    least: dict[str, float]
    launching: dict[str, list[float]]


def in_turn(
    peers: Mapping[str, DrivenPeer],
    turns: Mapping[str, int],
    errors: dict[str, str],
    repeats: int,
    beside: Callable[[str], None] = lambda name: None,
) -> Times:
    """Let all peers without ``errors`` take ``repeats`` turns, each of as many runs as ``turns`` says.

    ``beside`` is called for a peer after each of its turns. Who raises ``PeerError`` is in ``errors`` from then on.
    """
    names = [name for name in peers if name not in errors]
    medians: dict[str, list[float]] = {name: [] for name in names}
    least = dict.fromkeys(names, float("inf"))
    launching: dict[str, list[float]] = {name: [] for name in names}
    for number in range(repeats):
        order = [name for name in names if name not in errors]
        # Each round begins with another, so that nobody always follows the same one.
        start = number % max(1, len(order))
        for name in order[start:] + order[:start]:
            try:
                seconds, launched = peers[name].times(turns[name])
                beside(name)
            except PeerError as error:
                errors[name] = str(error)
                continue
            medians[name].append(statistics.median(seconds))
            least[name] = min(least[name], *seconds)
            launching[name] += launched
    whole = [name for name in names if name not in errors]
    return Times(
        medians={name: medians[name] for name in whole},
        least={name: least[name] for name in whole},
        launching={name: launching[name] for name in whole},
    )
