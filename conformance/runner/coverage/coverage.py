"""Interaction coverage: which words of the table of case features met in one collective, and which steps in a row."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.case import Case
from conformance.reference.rejected import Rejected
from conformance.reference.situations import CLASSES, COUNT, FEATURES, NUMBER, Situation, situations, trigrams
from conformance.reference.spmd import evaluate
from conformance.runner.log.log import Covered
from conformance.specs.domains.feasible import feasible_pairs

HOLES: Final = 8
"""Largest holes that are told: the words, or pairs of features, that the most of what is missing has in common."""

_WORDS: Final = tuple(f"{feature} {word}" for feature, word in NUMBER)
_OF: Final = np.array([list(FEATURES).index(feature) for feature, _ in NUMBER])


class Coverage:
    """What the legal programs added so far have shown together. Where ranks go their own ways nothing is counted."""

    def __init__(self) -> None:
        """Start with no case."""
        self._rows: set[tuple[int, ...]] = set()
        self._trigrams: set[tuple[str, str, str]] = set()

    def add(self, case: Case) -> None:
        """Count one case."""
        rows = rows_of(case)
        self._rows.update(rows)
        if rows:
            self._trigrams.update(trigrams(case))

    def measured(self) -> dict[str, Covered]:
        """Return the shares of feasible pairs, triples and trigrams.

        A pair of words is feasible unless ``specs.feasible`` says otherwise, a triple if its three pairs are, which is
        more than there are, and so is each of the trigrams.
        """
        rows = np.array(sorted(self._rows), np.int64).reshape(-1, len(FEATURES))
        right = feasible_pairs()
        pairs = np.zeros((COUNT, COUNT), bool)
        triples = np.zeros((COUNT, COUNT, COUNT), bool)
        for one, other in combinations(range(len(FEATURES)), 2):
            pairs[rows[:, one], rows[:, other]] = True
        for one, other, third in combinations(range(len(FEATURES)), 3):
            triples[rows[:, one], rows[:, other], rows[:, third]] = True
        every = right[:, :, None] & right[:, None, :] & right[None, :, :]
        unmet = [" ".join(each) for each in _every_trigram() if each not in self._trigrams]
        count = len(CLASSES) ** 3
        return {
            "pairs": Covered(met=int((pairs & right).sum()), feasible=int(right.sum()), holes=_holes(right & ~pairs)),
            "triples": Covered(
                met=int((triples & every).sum()), feasible=int(every.sum()), holes=_holes(every & ~triples)
            ),
            "trigrams": Covered(met=count - len(unmet), feasible=count, holes=tuple(unmet[:HOLES])),
        }


def rows_of(case: Case) -> list[tuple[int, ...]]:
    """Return, for each collective of a legal program, the numbers of its words; none where ranks go their own ways."""
    if case.troubled:
        return []
    read: list[list[Any]] = []
    try:
        evaluate(case, lambda _, operands: read.append(list(operands)))
    except Rejected:
        return []
    return list(map(_row, situations(case, read)))


def _row(situation: Situation) -> tuple[int, ...]:
    return tuple(NUMBER[each] for each in situation.items())


def _every_trigram() -> list[tuple[str, str, str]]:
    return [(one, two, three) for one in CLASSES for two in CLASSES for three in CLASSES]


def _holes(missing: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the words that most of what is missing has in common, each with how much."""
    found: Counter[int] = Counter()
    for each in np.argwhere(missing):
        found.update(int(number) for number in each)
    return tuple(f"{_WORDS[number]}: {count}" for number, count in found.most_common(HOLES))
