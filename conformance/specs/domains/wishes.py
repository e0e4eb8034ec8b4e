"""Which words each draw of a domain should have, so that every word is drawn and words meet each other.

It is Latin hypercube sampling: of every feature the words are dealt in a random order, all of them before one comes
again, and each feature in an order of its own. What a domain has no choice for, or what is illegal, is not granted.
Every second draw has the words of a pair that is rare (``specs.feasible``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import product
from random import Random
from typing import Final

from conformance.reference.situations import CLASSES, FEATURES
from conformance.specs.domains.choose import LAST_FIRST
from conformance.specs.domains.feasible import rare

OFTEN: Final[Mapping[str, Mapping[str, int]]] = {
    "extent": {
        "none": 0,
        "zero": 2,
        "one": 2,
        "small": 4,
        "undivided": 4,
        "remainder": 3,
        "wide": 3,
        "long": 0,
        "past": 0,
    },
    "rank": {"none": 0, "0": 1, "1": 3, "2": 3, "more": 3},
    "dtype": {"none": 0, "signed": 2, "single": 2},
    "layout": {"none": 0, "contiguous": 4, "made": 0},
    "groups": {"none": 2},
    "axes": {"none": 0, "one": 2, "inner": 2, "whole": 2, "permuted": 2},
    "world": {"1": 1, "2": 4, "3": 4, "4": 4, "5 to 7": 5, "8": 4, "more": 1},
    "members": {"1": 1, "2": 2, "odd": 2, "even": 2},
    "axis": {"none": 0},
    "local": {"none": 4, "one": 2, "several": 1, "negative": 2},
    "tiled": {"none": 0},
    "root": {"none": 0},
    "reduction": {"none": 0},
    "operands": {"none": 1, "one": 16, "several": 4, "same": 3},
    "values": {"none": 0, "plain": 3, "extreme": 2},
    "place": {"fresh": 1, "into": 2, "in_place": 3, "overlap": 2},
    "start": {"no": 1, "waited": 2, "later": 2, "never": 1},
}
"""How often a word is dealt where that is not once a round. Long blocks have a suite of their own."""

SIZES: Final = (*["long"] * 11, "past")
"""Sizes of the suite of long blocks."""

_WORDS: Final = {
    feature: tuple(word for word in words for _ in range(OFTEN.get(feature, {}).get(word, 1)))
    for feature, words in FEATURES.items()
    if feature not in ("operation", "turn")
} | {"size": SIZES}

THREE: Final = tuple(" ".join(words) for words in product(CLASSES, repeat=3))
"""The classes of three steps in a row."""


def wishes(name: str, seed: int, number: int) -> dict[str, str]:
    """Return the word that draw ``number`` of the domain ``name`` should have, for every feature."""
    order = {LAST_FIRST: ""} if Random(f"{name}, {seed}, {number}").random() < 0.5 else {}  # noqa: S311 - as below
    three = _dealt(name, seed, "three steps", number // len(THREE))[number % len(THREE)].split()
    order |= {f"step {at}": word for at, word in enumerate(three)}
    pair = _rare(name, seed, number // 2) if number % 2 else {}
    dealt = {
        feature: _dealt(name, seed, feature, (number - 1) // len(words))[(number - 1) % len(words)]
        for feature, words in _WORDS.items()
    }
    return order | dealt | pair


def _rare(name: str, seed: int, number: int) -> dict[str, str]:
    pairs = _within(name)
    round_, at = divmod(number, max(len(pairs), 1))
    return pairs[_order(name, seed, round_)[at]] if pairs else {}


@cache
def _within(name: str) -> tuple[dict[str, str], ...]:
    """Return the rare pairs that draws of a domain may have, as far as its name tells."""
    return tuple(pair for pair in rare() if all(_possible(name, *each) for each in pair.items()))


def _possible(name: str, feature: str, word: str) -> bool:
    if feature == "operation":
        return f"'{word}'" in name
    if feature == "local" and word != "none":
        return "'all_reduce'" in name
    if feature == "reduction" and word != "none":
        return "reduce" in name or "numerics" in name
    stored = feature in ("place", "start", "view") and word not in ("fresh", "no", "none")
    return "collectives" not in name and "with_chains" not in name if stored else True


@lru_cache(maxsize=64)
def _order(name: str, seed: int, round_: int) -> tuple[int, ...]:
    """Return the numbers of rare pairs in a random order."""
    found = list(range(len(_within(name))))
    Random(f"{name}, {seed}, rare, {round_}").shuffle(found)  # noqa: S311 - as below
    return tuple(found)


@lru_cache(maxsize=1024)
def _dealt(name: str, seed: int, feature: str, number: int) -> tuple[str, ...]:
    words = list(_WORDS.get(feature, THREE))
    # Not for secrets: the same seed must give the same cases.
    Random(f"{name}, {seed}, {feature}, {number}").shuffle(words)  # noqa: S311
    return tuple(words)
