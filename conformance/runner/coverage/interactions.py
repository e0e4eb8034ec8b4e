"""Interaction coverage: which words of a table of features met, by pairs and triples, and which steps in a row.

A triple counts as feasible if its three pairs are, and every trigram does. Both are more than there are, so that the
shares are at least what is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.runner.records.record import Covered

Situation = Mapping[str, str]
Trigram = tuple[str, str, str]

HOLES: Final = 8
"""Largest holes that are told: pairs and trigrams where these are all, else what the most of them have in common."""


@dataclass(frozen=True, eq=False)
class Table:
    """The words of each feature, the classes of steps, and the pairs of words that cannot meet, each a situation."""

    features: Mapping[str, Sequence[str]]
    classes: Sequence[str]
    excluded: Sequence[Situation] = ()

    @cached_property
    def words(self) -> tuple[tuple[str, str], ...]:
        """Return every feature and word, in the order of the table."""
        return tuple((feature, word) for feature, words in self.features.items() for word in words)

    @cached_property
    def number(self) -> Mapping[tuple[str, str], int]:
        """Return the number of each word."""
        return {each: number for number, each in enumerate(self.words)}

    @cached_property
    def feasible(self) -> NDArray[np.bool_]:
        """Return, for the numbers of two words of which the first is of an earlier feature, whether they can meet."""
        order = [list(self.features).index(feature) for feature, _ in self.words]
        found: NDArray[np.bool_] = np.less.outer(order, order)
        for pair in self.excluded:
            one, other = sorted(self.number[each] for each in pair.items())
            found[one, other] = False
        return found


def rows_met(met: Collection[Trigram], classes: Sequence[str]) -> Covered:
    """Return the share of all rows of three ``classes`` that were met, with the first that were not."""
    rows = [*product(classes, repeat=3)]
    unmet = [each for each in rows if each not in met]
    return Covered(met=len(rows) - len(unmet), feasible=len(rows), holes=tuple(map(" ".join, unmet[:HOLES])))


class Interactions:
    """What met in the situations, and in the steps, that were added so far."""

    def __init__(self, table: Table) -> None:
        """Start with nothing."""
        self._table = table
        self._rows: set[tuple[int, ...]] = set()
        self._trigrams: set[Trigram] = set()

    def add(self, situations: Iterable[Situation], trigrams: Iterable[Trigram]) -> None:
        """Count situations, of which each has a word for every feature of the table, and steps in a row."""
        number, features = self._table.number, self._table.features
        self._rows.update(tuple(number[name, each[name]] for name in features) for each in situations)
        self._trigrams.update(trigrams)

    def measured(self, of: str = "") -> dict[str, Covered]:
        """Return the shares of feasible pairs, triples and trigrams ``of`` something, with the largest holes."""
        pairs, triples = self._met()
        right = self._table.feasible
        every = right[:, :, None] & right[:, None, :] & right[None, :, :]
        return {
            f"pairs{of}": Covered(
                met=int((pairs & right).sum()), feasible=int(right.sum()), holes=self._holes(right & ~pairs)
            ),
            f"triples{of}": Covered(
                met=int((triples & every).sum()), feasible=int(every.sum()), holes=self._holes(every & ~triples)
            ),
            f"trigrams{of}": rows_met(self._trigrams, self._table.classes),
        }

    def _met(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the pairs and the triples of words, by their numbers, that met."""
        features = range(len(self._table.features))
        rows = np.array(sorted(self._rows), np.int64).reshape(-1, len(features))
        count = len(self._table.words)
        pairs, triples = np.zeros((count, count), bool), np.zeros((count, count, count), bool)
        for one, other in combinations(features, 2):
            pairs[rows[:, one], rows[:, other]] = True
        for one, other, third in combinations(features, 3):
            triples[rows[:, one], rows[:, other], rows[:, third]] = True
        return pairs, triples

    def _holes(self, missing: NDArray[np.bool_]) -> tuple[str, ...]:
        """Return what is missing where it is little, else the words that most of it has in common, with how much."""
        words = [" ".join(each) for each in self._table.words]
        places = np.argwhere(missing)
        if len(places) <= HOLES:
            return tuple(" with ".join(words[number] for number in each) for each in places)
        found = Counter(int(number) for number in places.reshape(-1))
        return tuple(f"{words[number]}: {count}" for number, count in found.most_common(HOLES))
