"""Which words each draw of a domain should have, so that every word is drawn and words meet each other.

It is Latin hypercube sampling: of every feature the words are dealt in a random order, all of them before one comes
again, and each feature in an order of its own. What a domain has no choice for, or what is illegal, is not granted.
Over these lie words that should meet: those of a pair that is rare (``feasible``), of conjunctions in which
mistakes hide, or of what is wrong with a draw and the block that it is wrong with (``conjunctions``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import product
from random import Random
from typing import Final

from conformance.reference.operations import TABLE
from conformance.reference.situations import CLASSES, FEATURES
from conformance.specs.domains.choices import LAST_FIRST
from conformance.specs.domains.steering.conjunctions import beside, dangerous, operation_of, wrongs
from conformance.specs.domains.steering.rare import LONG, fitting, rare, rare_words

OFTEN: Final[Mapping[str, Mapping[str, int]]] = {
    "extent": {
        "none": 0,
        "zero": 2,
        "one": 2,
        "small": 4,
        "undivided": 4,
        "remainder": 3,
        "wide": 3,
        "many": 2,
        "long": 0,
    },
    "rank": {"none": 0, "0": 1, "1": 3, "2": 3, "more": 3},
    "dtype": {"none": 0},
    "layout": {"none": 0, "contiguous": 4, "made": 0},
    "groups": {"none": 2},
    "axes": {"none": 0, "one": 2, "inner": 2, "whole": 2, "permuted": 2},
    "world": {"1": 1, "2": 3, "3": 3, "4": 4, "5 to 7": 7, "8": 5, "more": 1},
    "members": {"1": 1, "2": 3, "3": 3, "4": 2, "odd": 3, "even": 3},
    "meetings": {"none": 0, "one": 2, "two": 3, "more": 2},
    "axis": {"none": 0},
    "local": {"none": 8, "one": 2, "several": 3, "negative": 2},
    "tiled": {"none": 0},
    "root": {"none": 0},
    "reduction": {"none": 0},
    "factor": {"none": 0},
    "operands": {"none": 1, "one": 14, "several": 7, "same": 3},
    "values": {"none": 0, "plain": 3, "extreme": 2, "infinite": 2, "nan": 3},
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

KINDS: Final = ("rare", "dangerous", "wrong", "dangerous", "dangerous", "wrong", "dangerous", "dangerous")
"""What words are dealt together for, draw by draw; see ``_together``."""

FACTORS: Final = FEATURES["factor"][1:]
LOCAL: Final = FEATURES["local"][1:]

MANY: Final = 60
"""Rare words of a domain from which three of eight draws have one; questions of a mesh have fewer, and are few."""

MOST: Final = 200
"""Rare words of a domain from which four of eight draws have one: storage and starts of what reduces."""

THREE: Final = tuple(" ".join(words) for words in product(CLASSES, repeat=3))
"""The classes of three steps in a row."""


def goals_of(name: str, seed: int, number: int) -> dict[str, str]:
    """Return the word that draw ``number`` of the domain ``name`` should have, for every feature."""
    kind, nth = turn_of(name, number)
    words = rare(name, seed, nth) if kind == "rare" else {}
    if words:
        return steered_to(words, name, seed, number)
    words = _of_long(operation_of(name), number % 3, number // 3 + seed) if name.startswith(LONG) else {}
    if words:
        return steered_to(words, name, seed, number)
    return {**each_alone(name, seed, number), **_together(name, seed, kind, nth)}


def _of_long(op: str, turn: int, nth: int) -> dict[str, str]:
    """Return what every third draw of long blocks has, and another third: they are few, and seldom would have it."""
    attributes = TABLE[op].attributes
    if turn == 0 and "factor" in attributes:
        return {"operation": op, "reduction": "premul_sum", "factor": FACTORS[nth % len(FACTORS)]}
    return {"operation": op, "local": LOCAL[nth % len(LOCAL)]} if turn == 1 and "local_axes" in attributes else {}


def turn_of(name: str, number: int) -> tuple[str, int]:
    """Return what a draw of a domain has words for that are dealt together, and how many had such before it."""
    kinds = _kinds(name)
    done, at = divmod(number, len(kinds))
    return kinds[at], done * kinds.count(kinds[at]) + kinds[:at].count(kinds[at])


@cache
def _kinds(name: str) -> tuple[str, ...]:
    """Return the kinds by turns; where nothing is wrong more is rare, if there is much that is."""
    if wrongs(name) or rare_words(name) < MANY or name.startswith(LONG):
        return KINDS
    kinds = tuple("rare" if kind == "wrong" else kind for kind in KINDS)
    return kinds if rare_words(name) < MOST else (*kinds[:-1], "rare")


def steered_to(words: Mapping[str, str], name: str, seed: int, number: int) -> dict[str, str]:
    """Return the goals of a draw that should have certain words: the others are such as can meet them."""
    return {**fitting(each_alone(name, seed, number), words, _WORDS, number), "wrong": "", "chained": "yes"}


def each_alone(name: str, seed: int, number: int) -> dict[str, str]:
    """Return the words of a draw as each feature's are dealt, without those that are dealt together."""
    order = {LAST_FIRST: ""} if Random(f"{name}, {seed}, {number}").random() < 0.5 else {}  # noqa: S311 - an order, not a secret
    three = _dealt(name, seed, "three steps", number // len(THREE))[number % len(THREE)].split()
    order |= {f"step {at}": word for at, word in enumerate(three)}
    dealt = {
        feature: _dealt(name, seed, feature, (number - 1) // len(words))[(number - 1) % len(words)]
        for feature, words in _WORDS.items()
    }
    if dealt["local"] == "several" and dealt["rank"] in ("0", "1"):
        dealt["rank"] = "2"
    return {**order, **dealt}


def _together(name: str, seed: int, kind: str, nth: int) -> Mapping[str, str]:
    """Return the words that one draw should have together: of what is wrong, or dangerous."""
    found = {"dangerous": dangerous, "wrong": wrongs}[kind](name) if kind != "rare" else ()
    if not found:
        return {}
    round_, at = divmod(nth, len(found))
    which = _order(name, seed, kind, len(found), round_)[at]
    words = found[which]
    if kind == "dangerous" and "reduction" in words:
        others = beside(name)
        # A pair meets other words each time that it comes, and on each seed it begins with others.
        words = {**words, **others[(_order(name, seed, "beside", len(found), 0)[which] + round_) % len(others)]}
    return words if kind == "wrong" else {"wrong": "", **words}


@lru_cache(maxsize=256)
def _order(name: str, seed: int, of: str, count: int, round_: int) -> tuple[int, ...]:
    """Return the numbers below ``count`` in a random order."""
    found = list(range(count))
    Random(f"{name}, {seed}, {of}, {round_}").shuffle(found)  # noqa: S311 - an order, not a secret
    return tuple(found)


@lru_cache(maxsize=1024)
def _dealt(name: str, seed: int, feature: str, number: int) -> tuple[str, ...]:
    words = list(_WORDS.get(feature, THREE))
    # Not for secrets: the same seed must give the same cases.
    Random(f"{name}, {seed}, {feature}, {number}").shuffle(words)  # noqa: S311 - an order, not a secret
    return tuple(words)
