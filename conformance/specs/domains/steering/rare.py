"""Which words a draw should have that meet seldom: one of them, with as many of its rare companions as go together.

What a draw is steered to has to fit, or a word that comes first leaves no choice for the next: goals that cannot meet
the words of the draw are replaced by others that can (``feasible``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from random import Random
from typing import Final, TypeVar

from conformance.specs.domains.steering.conjunctions import operation_of
from conformance.specs.domains.steering.feasible import apart, form_of, meet, tried, words_of

T = TypeVar("T")

LONG: Final = "conformance.specs.long."
"""The domains of long blocks, which are there for these: short ones show other rare words as well."""

DEAF: Final = ("conformance.specs.relating.", "conformance.specs.dtypes.")
"""The domains of laws, which have no goals, and of rare dtypes, of which few programs are chains."""


def rare(name: str, seed: int, number: int) -> Mapping[str, str]:
    """Return the words of the draw of a domain that is the ``number``-th one for rare words; none where none is rare.

    Each word comes as often as its longest list of companions of one feature has members, in a random order.
    """
    deck = _deck(name)
    if not deck:
        return {}
    turn, at = divmod(number, len(deck))
    word, nth = _shuffled(deck, f"{name}, {seed}, rare, {turn}")[at]
    op, companions = operation_of(name), _companions(name)[word]
    known, found = {"operation": op} if op else {}, apart(word)
    for feature in _shuffled(tuple(companions), f"{name}, {seed}, {word}, {turn}, {nth}"):
        listed = _shuffled(companions[feature], f"{name}, {seed}, {word}, {feature}")
        others = apart(listed[(nth + turn) % len(listed)])
        if not others.keys() & found.keys() and meet(known | found | others):
            found |= others
    return found


def rare_words(name: str) -> int:
    """Return how many draws it takes until each rare word of a domain was dealt with its companions."""
    return len(_deck(name))


def fitting(
    goals: Mapping[str, str], words: Mapping[str, str], every: Mapping[str, Sequence[str]], number: int
) -> dict[str, str]:
    """Return goals with ``words``, and others of ``every`` feature's words for those that cannot meet these."""
    found = dict(goals)
    for feature, listed in every.items():
        if feature in found and feature not in words:
            left = _left(feature, tuple(listed), tuple(words.items()))
            if not left:
                del found[feature]
            elif found[feature] not in left:
                found[feature] = left[number % len(left)]
    return {**found, **words}


@lru_cache(maxsize=4096)
def _left(feature: str, listed: tuple[str, ...], words: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(word for word in listed if meet({**dict(words), feature: word}))


def may_have(name: str, words: Sequence[str], had: AbstractSet[str]) -> bool:
    """Return whether cases of a domain, which ``had`` such words, may have these together."""
    op = operation_of(name)
    asked = {feature: word for each in words for feature, word in apart(each).items()}
    if name.startswith(DEAF) or (name.startswith(LONG) and asked.get("extent") != "long"):
        return False
    wanted = {"operation": op} | asked
    known = all(f"{feature}={word}" in had for feature, word in asked.items() if feature != "operation")
    return known and op in ("", wanted["operation"]) and (not op or meet(wanted))


@cache
def _companions(name: str) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the rare words that cases of a domain can have, with their companions by feature, some several times."""
    had = words_of(name)
    found: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for word, others in tried().rare.items():
        for other, dealt in others.items():
            times, *forms = dealt.split()
            if form_of(name) in forms and may_have(name, (word, other), had):
                found[word][next(iter(apart(other)))] += [other] * int(times)
    return {word: {feature: tuple(each) for feature, each in of.items()} for word, of in found.items()}


@cache
def _deck(name: str) -> tuple[tuple[str, int], ...]:
    """Return the rare words of a domain, each with the numbers of the times that it comes."""
    return tuple((word, nth) for word, of in _companions(name).items() for nth in range(max(map(len, of.values()))))


@lru_cache(maxsize=1024)
def _shuffled(listed: tuple[T, ...], key: str) -> tuple[T, ...]:
    # Not for secrets: the same seed must give the same cases.
    return tuple(Random(key).sample(listed, len(listed)))  # noqa: S311 - an order, not a secret
