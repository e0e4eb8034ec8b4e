"""Which classes of steps a drawn chain should have one after the other, so that all trigrams are drawn, and on what.

The classes of all chains of a run together are a sequence in which every three classes in a row come once (de Bruijn),
another one for every seed. Each chain has a stretch of it, which overlaps the last one's by two. Words of features
that a graph has as a whole are dealt beside it: all their combinations come before one comes again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, product
from random import Random
from typing import Final

from conformance.cases.graph.situations import CLASSES, FEATURES
from conformance.specs.domains.choices import Draw

CHAIN: Final = "chain"
"""The goal of such a draw: the classes of its steps; no word where the draw is of another kind."""


@dataclass(frozen=True)
class Dealt:
    """What the draws of a domain are dealt.

    ``lengths`` are the steps of the chains of so many draws in a row, 0 for a draw of another kind; ``whole`` has
    features of a whole graph with their words, of which common ones may come twice.
    """

    lengths: tuple[int, ...]
    whole: Mapping[str, Sequence[str]]


SCHEDULES: Final = Dealt(
    # Half of the chains are short. A hundred draws have 1,010 trigrams in a row, of 1,000; with those that steps make
    # beside them nearly all are met.
    lengths=(7, 16, 0, 8, 34, 0, 7, 14, 9, 0, 30, 7, 0, 16, 8, 30),
    whole={
        "dtype": (*FEATURES["dtype"], "single", "complex"),
        "devices": (*FEATURES["devices"], "1"),
        "symbolic": FEATURES["symbolic"],
    },
)

GRAPHS: Final = Dealt(
    # Three draws of sixteen. The longer ones cost frameworks that compile a second and more.
    lengths=(0, 0, 16, 0, 0, 0, 0, 26, 0, 0, 0, 16, 0, 0, 0, 0),
    whole={
        "dtype": (*FEATURES["dtype"], "single", "half"),
        "devices": (*FEATURES["devices"], "1"),
        "symbolic": (*FEATURES["symbolic"], "no"),
    },
)

SHARDED: Final = Dealt(
    lengths=(36, 0, 0, 36, 0, 0, 0, 0, 36, 0, 0, 36, 0, 0, 0, 0),
    whole={"mesh": ("one", "two", "two", "two"), "order": ("plain", "turned")},
)

DEALT: Final[Mapping[str, Dealt]] = {
    "conformance.specs.schedules.graphs.": SCHEDULES,
    "conformance.specs.graphs.cases.": GRAPHS,
    "conformance.specs.sharded.cases.": SHARDED,
}
"""By how the names of domains begin."""


def chain_goals(name: str, seed: int, number: int) -> Mapping[str, str]:
    """Return the goals of draw ``number`` of a domain of chains: their classes, and the words of the whole graph.

    There is none for other domains, nor for draw 0, the plainest of all.
    """
    dealt = next((each for begin, each in DEALT.items() if name.startswith(begin)), None)
    if dealt is None or not number:
        return {}
    round_, at = divmod(number, len(dealt.lengths))
    length = dealt.lengths[at]
    if not length:
        return {CHAIN: ""}
    starts = (0, *accumulate(max(each - 2, 0) for each in dealt.lengths))
    every, start = _sequence(seed), round_ * starts[-1] + starts[at]
    chain = " ".join(every[(start + step) % len(every)] for step in range(length))
    chains = [at for at, each in enumerate(dealt.lengths) if each]
    words = tuple(product(*dealt.whole.values()))
    turn, nth = divmod(round_ * len(chains) + chains.index(at), len(words))
    return {CHAIN: chain, **dict(zip(dealt.whole, _shuffled(words, seed, turn)[nth], strict=True))}


def chained(draw: Draw) -> tuple[str, ...] | None:
    """Return the classes that the steps of a chain should have; ``None`` where the draw is of another kind.

    No class is wanted of a draw without goals.
    """
    wanted = draw.goals.get(CHAIN)
    return () if wanted is None else tuple(wanted.split()) or None


@lru_cache(maxsize=64)
def _shuffled(words: tuple[tuple[str, ...], ...], seed: int, round_: int) -> tuple[tuple[str, ...], ...]:
    # As below.
    found = Random(f"words, {seed}, {round_}").sample(words, len(words))  # noqa: S311 - an order, not a secret
    return tuple(found)


@cache
def _sequence(seed: int) -> tuple[str, ...]:
    """Return a cycle of classes in which each three in a row come once: Hierholzer's way through all pairs."""
    # Not for secrets: the same seed must give the same graphs.
    source = Random(f"chains, {seed}")  # noqa: S311 - an order, not a secret
    left = {pair: source.sample(CLASSES, len(CLASSES)) for pair in product(CLASSES, CLASSES)}
    path, found = [(CLASSES[0], CLASSES[0])], list[str]()
    while path:
        if left[path[-1]]:
            path.append((path[-1][1], left[path[-1]].pop()))
        else:
            found.append(path.pop()[1])
    return tuple(reversed(found[1:]))
