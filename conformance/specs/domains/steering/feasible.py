"""Which pairs of words of the table of case features can meet in one collective, and which of them seldom do.

``feasible.json`` is made by ``python -m conformance.runner.coverage.feasible``, which tries every pair. It has the
pairs that cannot meet, by the reason (``infeasible``), and for each domain the rare pairs that it should draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

FILE: Final = Path(__file__).with_name("feasible.json")


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What came of trying every pair.

    ``infeasible`` has, for each reason, words with those that they cannot meet, each as ``feature=word`` in the order
    of the table; ``unmade`` pairs that nothing excludes and no draw made; ``rare`` the pairs, as two words, that draws
    of a domain are steered to.
    """

    infeasible: Mapping[str, Mapping[str, tuple[str, ...]]]
    unmade: tuple[str, ...] = ()
    rare: Mapping[str, tuple[str, ...]]


@cache
def tried() -> Tried:
    """Return what is in the file."""
    return msgspec.json.decode(FILE.read_bytes(), type=Tried)


@cache
def infeasible() -> frozenset[tuple[str, str]]:
    """Return the pairs of words that cannot meet, each as ``feature=word``, in the order of the table."""
    return frozenset(
        (one, other) for of in tried().infeasible.values() for one, others in of.items() for other in others
    )


@cache
def rare() -> Mapping[str, tuple[Mapping[str, str], ...]]:
    """Return, for the name of a domain, the pairs that draws without steering towards them met seldom."""
    return {
        name: tuple(dict(word.split("=") for word in pair.split("  ")) for pair in pairs)
        for name, pairs in tried().rare.items()
    }
