"""What claims promise, and which of it records show: one definition for the terminal, the log and the report.

Claims promise every operation that they name, and every word that they list for one of its features. An operation is
exercised when a case of it was judged within the claims, and a word when such a case has it. The numbers of a counted
feature are one promise: cases have some of them, and no case is drawn for the sake of each.

A record numbers the promises that its case shows, as they are sorted, so that any records of one backend can be joined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

from conformance.backends.base import Claims
from conformance.cases.program.feature_words import COUNTED, WORDS
from conformance.reference.spmd import ATTRIBUTES
from conformance.runner.dialects import operations
from conformance.runner.records.exercised import Exercised

ANY: Final = "of any size"
"""What stands for the numbers that claims list."""

Promise = tuple[str, str, str]
"""An operation, a feature and a word of it; the operation itself has neither."""


class Promises:
    """What the ``claims`` of one backend promise, numbered."""

    def __init__(self, claims: Claims) -> None:
        """Number what is promised."""
        self.claims = claims

    @cached_property
    def _numbers(self) -> dict[Promise, int]:
        return {promise: number for number, promise in enumerate(sorted(set(_promised(self.claims))))}

    def met(self, features: Mapping[str, Mapping[str, AbstractSet[str]]]) -> tuple[int, ...]:
        """Return the numbers of what a case shows, by the words that each of its operations met."""
        numbers, found = self._numbers, set()
        for op, facts in features.items():
            limits = self.claims.get(op)
            if limits is None:
                continue
            found.add(numbers[op, "", ""])
            for feature in limits:
                words = ((op, feature, _word(feature, word)) for word in facts.get(feature, ()))
                found.update(numbers[each] for each in words if each in numbers)
        return tuple(sorted(found))

    def exercised(self, met: Collection[int], ops: Iterable[str]) -> Exercised:
        """Return what is promised of ``ops``, those that runs are about, and which of it their records did not show."""
        wanted = set(ops)
        listed = [one for one in dict.fromkeys(_promised(self.claims)) if one[0] in wanted and _has(one[0], one[1])]
        left = [one for one in listed if self._numbers[one] not in met]
        return Exercised(promised=len(listed), missing=tuple(map(_told, left)))


def _promised(claims: Claims) -> Iterator[Promise]:
    for op, limits in claims.items():
        yield op, "", ""
        for feature in limits:
            yield from ((op, feature, _word(feature, word)) for word in limits[feature])


def _word(feature: str, word: str) -> str:
    return ANY if feature in COUNTED else word


def _has(op: str, feature: str) -> bool:
    """Return whether cases of an operation have a feature: claims may limit one in what only others have."""
    if not feature or op not in operations() or operations()[op].name != "spmd" or feature in (*COUNTED, *WORDS):
        return True
    return ("op" if feature == "reduction" else feature) in ATTRIBUTES[op]


def _told(promise: Promise) -> str:
    op, feature, word = promise
    return f"{op} with {feature} {word}" if feature else f"{op} at all"
