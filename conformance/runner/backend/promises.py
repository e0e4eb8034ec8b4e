"""What claims promise, and which of it a run exercised: one definition for the terminal, the log and the report.

Claims promise every operation that they name, and every word that they list for one of its features. An operation is
exercised when a case of it was judged within the claims, and a word when such a case has it. The numbers of a counted
feature are one promise: cases have some of them, and no case is drawn for the sake of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
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


@dataclass
class Promises:
    """What the ``claims`` of one backend promise, and what of it judged cases showed."""

    claims: Claims
    _met: set[Promise] = field(default_factory=set)

    def add(self, features: Mapping[str, Mapping[str, AbstractSet[str]]]) -> None:
        """Take note of a judged case within the claims, by the words that each of its operations met."""
        for op, facts in features.items():
            self._met.add((op, "", ""))
            limits = self.claims.get(op, {})
            for feature in limits:
                self._met.update((op, feature, _word(feature, word)) for word in facts.get(feature, ()))

    def exercised(self, ops: Iterable[str]) -> Exercised:
        """Return what is promised of ``ops``, those that a run is about, and which of it was not shown."""
        promised = list(dict.fromkeys(_promised(self.claims, set(ops))))
        return Exercised(promised=len(promised), missing=tuple(_told(one) for one in promised if one not in self._met))


def _promised(claims: Claims, ops: AbstractSet[str]) -> Iterator[Promise]:
    for op, limits in claims.items():
        if op in ops:
            yield op, "", ""
            for feature in (name for name in limits if _has(op, name)):
                yield from ((op, feature, _word(feature, word)) for word in limits[feature])


def _word(feature: str, word: str) -> str:
    return ANY if feature in COUNTED else word


def _has(op: str, feature: str) -> bool:
    """Return whether cases of an operation have a feature: claims may limit one in what only others have."""
    if operations()[op].name != "spmd" or feature in COUNTED or feature in WORDS:
        return True
    return ("op" if feature == "reduction" else feature) in ATTRIBUTES[op]


def _told(promise: Promise) -> str:
    op, feature, word = promise
    return f"{op} with {feature} {word}" if feature else f"{op} at all"
