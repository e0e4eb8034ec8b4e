"""Whether words can meet in one collective where each two of them can: it has a word of every feature beside them.

What two words exclude says ``runner.coverage.infeasible``; here is what two demand of a third.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache, reduce
from operator import or_
from typing import Final

from conformance.reference.situations import FEATURES
from conformance.runner.coverage.infeasible import reasons

DEMANDS: Final = """
operation=all_gather,gather,reduce_scatter,scatter | place=in_place | members=1
operation=all_gather,gather,reduce_scatter,scatter | place=in_place,overlap | tiled=none,yes
rank=1 | axis=first,last | operation=all_gather,gather; tiled=no
rank=2 | axis=middle | operation=all_gather,gather; tiled=no
dtype=bool,int4,int8,int16,int32,int64,uint4,uint8,uint16,uint32,uint64 | reduction=mean | place=fresh,into
world=3 | members=2 | groups=uneven
world=4 | members=3 | groups=uneven
world=5 to 7 | members=4 | groups=uneven
world=8 | members=3,odd | groups=uneven
world=2 | meetings=one | members=2
world=3 | meetings=one | members=3
world=4 | meetings=one | members=4
world=5 to 7,more | meetings=one | members=odd,even
world=8 | meetings=one | members=even
world=2 | meetings=two | members=1
world=3 | meetings=two | members=2
world=4 | meetings=two | members=2,3
world=5 to 7 | meetings=two | members=3,4,odd,even
world=8 | meetings=two | members=4,odd,even
world=more | meetings=two | members=odd,even
"""
"""Words of one feature, of another, and of a third, of which a collective has one if it has one of each of those.

A result in place has its operand's shape and dtype, and a mean of integers is a float. Only where an axis is made, the
first of one is not the only one. Groups of one size divide the ranks; one has all, the greater of two at least half.
"""

_EVERY: Final = tuple(f"{feature}={word}" for feature, words in FEATURES.items() for word in words)
_BITS: Final = {word: 1 << number for number, word in enumerate(_EVERY)}


def can_meet(words: Collection[str]) -> bool:
    """Return whether some legal collective may have all of these words of the table, each as ``feature=word``.

    Of every feature at least one word is left that can meet one that is left of every other feature.
    """
    features, beside, demands = _of_features(), _beside(), _demands()
    left = _bits(_EVERY)
    for word in words:
        left &= ~features[word.partition("=")[0]] | _BITS[word]
    before = 0
    while before != left:
        before = left
        for one, other, third in demands:
            if not left & one and not left & other:
                left &= ~third
        left &= ~_bits(
            word
            for word, bit in _BITS.items()
            if left & bit and not all(left & beside[word] & of for of in features.values())
        )
    return all(left & of for of in features.values())


def _bits(words: Collection[str] | Iterator[str]) -> int:
    return reduce(or_, (_BITS[word] for word in words), 0)


@cache
def _of_features() -> dict[str, int]:
    """Return the words of each feature."""
    return {name: _bits([f"{name}={word}" for word in words]) for name, words in FEATURES.items()}


@cache
def _beside() -> dict[str, int]:
    """Return for each word those that it can meet, of its own feature itself alone."""
    features = _of_features()
    found = {word: ~features[word.partition("=")[0]] | bit for word, bit in _BITS.items()}
    for one, other in reasons():
        found[one] &= ~_BITS[other]
        found[other] &= ~_BITS[one]
    return found


@cache
def _demands() -> tuple[tuple[int, int, int], ...]:
    """Return what is demanded: if nothing of the first is left, nor of the second, nothing of the third may be."""
    features = _of_features()

    def others(part: str) -> int:
        feature, _, words = part.strip().partition("=")
        return features[feature] & ~_bits([f"{feature}={word}" for word in words.split(",")])

    return tuple(
        (others(one), others(other), others(third))
        for one, other, thirds in (line.split(" | ") for line in DEMANDS.strip().splitlines())
        for third in thirds.split(";")
    )
