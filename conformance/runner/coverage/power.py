"""What a run is able to see: the share of automatic mutants that die in it, with 95 % confidence.

Where mutants die was measured once (``power.json``, made by ``python -m conformance.qualification.auto.measure``: see
docs/qualification.md). A mutant is seen by a run that judges the draw which kills it first, in some suite and
operation; draws of other seeds are taken to kill alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Final

import msgspec

from conformance.runner.records.power import CONFIDENCE, Power, Share

FILE: Final = Path(__file__).with_name("power.json")


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Of each family's mutants that could die, the first killing draw of each suite and operation (``suite op``).

    A mutant without any survived, or was not reached. ``examples`` are the draws an operation that it was measured by,
    and ``made`` is how.
    """

    made: str = ""
    seeds: tuple[int, ...]
    examples: int
    families: dict[str, list[dict[str, int]]]


def power(drawn: Mapping[tuple[str, str], int], judged: Mapping[tuple[str, str], float] | None = None) -> Power:
    """Return what a run can see that drew so many cases of each suite and operation.

    ``judged`` has, of a run that was cut or whose backend claims less, the part of each suite's and operation's cases
    that came to a verdict, taken for the first of them; one that it does not name had none.
    """
    measured = read()

    def came(place: str) -> int:
        if not place:  # it died as it started
            return 1
        suite, _, op = place.partition(" ")
        most = drawn.get((suite, op), 0)
        return most if judged is None else int(most * judged.get((suite, op), 0.0))

    families = {
        name: _share(len(mutants), sum(any(at < came(place) for place, at in kills.items()) for kills in mutants))
        for name, mutants in measured.families.items()
    }
    count = sum(share.mutants for share in families.values())
    full = sum(bool(kills) for mutants in measured.families.values() for kills in mutants)
    return Power(
        total=_share(count, sum(share.seen for share in families.values())), full=_share(count, full), families=families
    )


@cache
def read() -> Measured:
    """Return what was measured; nothing where it never was."""
    if not FILE.exists():
        return Measured(seeds=(), examples=0, families={})
    return msgspec.json.decode(FILE.read_bytes(), type=Measured)


def _share(mutants: int, seen: int) -> Share:
    share = seen / mutants if mutants else 0.0
    return Share(mutants=mutants, seen=seen, share=round(share, 4), least=round(least(seen, mutants), 4))


def least(seen: int, mutants: int) -> float:
    """Return the lower bound of a share of which ``seen`` of ``mutants`` is a sample: Wilson's, one-sided."""
    if not mutants:
        return 0.0
    z = NormalDist().inv_cdf(CONFIDENCE)
    share = seen / mutants
    middle = share + z * z / (2 * mutants)
    spread = z * sqrt(share * (1 - share) / mutants + z * z / (4 * mutants * mutants))
    return max(0.0, (middle - spread) / (1 + z * z / mutants))
