"""Which pairs of words of the table of case features can meet in one collective, and which of them seldom do.

``feasible.json`` is made by ``python -m conformance.runner.coverage.feasible``, which tries every pair. It has the
pairs that cannot meet, by the reason (``infeasible``), and the pairs that draws meet seldom unless they are steered.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Final

import msgspec

from conformance.reference.situations import FEATURES

FILE: Final = Path(__file__).with_name("feasible.json")


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What came of trying every pair.

    ``infeasible`` has, for each reason, words with those that they cannot meet, each as ``feature=word`` in the order
    of the table; ``unmade`` pairs that nothing excludes and no draw made. ``rare`` has words, each with those that it
    meets seldom and how often these are dealt beside it; ``features`` those in which the cases of a domain differ.
    """

    infeasible: Mapping[str, Mapping[str, tuple[str, ...]]]
    unmade: tuple[str, ...] = ()
    rare: Mapping[str, Mapping[str, int]]
    features: Mapping[str, tuple[str, ...]]


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


def meet(words: Mapping[str, str]) -> bool:
    """Return whether words of different features can meet, pair by pair."""
    named = tuple(f"{feature}={words[feature]}" for feature in FEATURES if feature in words)
    return infeasible().isdisjoint(combinations(named, 2))


def apart(words: str) -> dict[str, str]:
    """Return words by feature, which are written as ``feature=word`` with two spaces between them."""
    return dict(word.split("=") for word in words.split("  "))
