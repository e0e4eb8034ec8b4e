"""Which classes of steps a drawn graph should have one after the other, so that all trigrams are drawn, and on what.

The classes of all draws together are a sequence in which every three classes in a row come once (de Bruijn's), another
one for every seed. Each draw has a stretch of it, which overlaps the last one's by two.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import accumulate, product
from random import Random
from typing import Final

from conformance.cases.graph.situations import CLASSES, FEATURES

DOMAIN: Final = "conformance.specs.schedules.graphs."
"""How the names of the domains begin whose draws are graphs."""

LENGTHS: Final = (7, 16, 7, 34, 7, 14, 9, 30, 7, 16)
"""Steps of every ten draws: half of them are short. A hundred draws have 1,270 trigrams in a row, of 1,000."""

WHOLE: Final[Mapping[str, tuple[str, ...]]] = {
    "dtype": (*FEATURES["dtype"], "single", "half"),
    "devices": (*FEATURES["devices"], "1"),
    "symbolic": (*FEATURES["symbolic"], "no"),
}
"""The features that a graph has as a whole, with their words, some of them twice: the common ones have most rules."""

_WHOLE: Final = tuple(product(*WHOLE.values()))
_STARTS: Final = (0, *accumulate(length - 2 for length in LENGTHS))


def chain_goals(name: str, seed: int, number: int) -> Mapping[str, str]:
    """Return the classes that draw ``number`` of a domain of graphs should have, as the goal ``chain``.

    Those for the features that a graph has as a whole are dealt: each of their triples comes before one comes again.
    """
    if not name.startswith(DOMAIN):
        return {}
    dealt = _dealt(seed, number // len(_WHOLE))[number % len(_WHOLE)]
    every, (round_, at) = _sequence(seed), divmod(number, len(LENGTHS))
    start = round_ * _STARTS[-1] + _STARTS[at]
    chain = " ".join(every[(start + step) % len(every)] for step in range(LENGTHS[at]))
    return {"chain": chain, **dict(zip(WHOLE, dealt, strict=True))}


@lru_cache(maxsize=64)
def _dealt(seed: int, round_: int) -> tuple[tuple[str, ...], ...]:
    words = list(_WHOLE)
    # As below.
    Random(f"words, {seed}, {round_}").shuffle(words)  # noqa: S311 - an order, not a secret
    return tuple(words)


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
