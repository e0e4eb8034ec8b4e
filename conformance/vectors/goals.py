"""Goals: a clause that speaks about a word, by number; and the clauses, each of which three cases should speak of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

PartNumbers = tuple[list[int], list[int]]
"""The clauses that speak about one thing and its words, by their numbers in the tables of a deck."""

CLAUSE: Final = 20.0
"""What a clause alone is worth, of one of its pairs with words. Of three halves of the mutants of collectives 300
cases kill 85 % with 4 and 91 % with 20."""

KILL: Final = "kill of"
"""How what stands in the place of a clause for mutants that the deck is chosen by begins, before the family; the words
are their names."""

MOTIF: Final = "motif of"
"""How what stands in the place of a clause for patterns that somebody wrote begins, before the family: the deck has
such, which draws no longer make."""

PLAIN: Final = "plain"
"""How what stands in the place of a clause for cases of few features begins, before the clause."""

WORTH: Final = {
    f"{KILL} collectives": 30.0,
    f"{KILL} types": 30.0,
    f"{KILL} graphs": 1000.0,
    f"{KILL} sharding": 1000.0,
    f"{KILL} schedules": 1000.0,
    f"{MOTIF} graphs": 300.0,
    f"{MOTIF} types": 100.0,
    f"{MOTIF} sharding": 30.0,
}
"""What a goal is worth that no clause makes, of a pair of a clause and a word; a motif of collectives is worth no more
than what it shows. Measured on random halves of the mutants, of which one is the goal and the other counted. With 300
for motifs 200 graphs kill 97 %, without them 76 %. With 30, 100, 300 and 1,000 for a kill 50 graphs kill 57, 60, 75 and
82 %, and 100 programs of collectives 75 % with 30, 73 % with 100 and 69 % with 1,000."""


class Numbering:
    """The numbers of goals, given as they are met."""

    def __init__(self, clauses: Sequence[str], words: int) -> None:
        """Number pairs of ``clauses``, or what stands in their place, with so many words."""
        self._clauses, self._words = clauses, words + 1
        self._known = np.empty(0, np.int64)

    def rows(self, cases: Sequence[Sequence[PartNumbers]]) -> list[NDArray[np.int32]]:
        """Return for each case the numbers of its goals, each once; these are all that there are from here on."""
        owner, goal = self._pairs(cases)
        many = max(1, len(self._clauses) * self._words)
        # Sorted, and counted in a table of all that there may be: ``np.unique`` took ten times as long.
        pairs = np.sort(owner * many + goal)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        owner, goal = np.divmod(pairs, many)
        met = np.zeros(many, bool)
        met[goal] = True
        self._known = np.flatnonzero(met)
        numbers = (np.cumsum(met, dtype=np.int32) - 1)[goal]
        ends = np.searchsorted(owner, np.arange(1, len(cases)))
        return list(np.split(numbers.astype(np.int32), ends)) if cases else []

    def weights(self) -> NDArray[np.float64]:
        """Return what each goal is worth."""
        alone = np.array([0.0 if name.startswith((KILL, MOTIF)) else CLAUSE for name in self._clauses])
        pairs = np.array([WORTH.get(name, 1.0) for name in self._clauses])
        of, word = np.divmod(self._known, self._words)
        found: NDArray[np.float64] = np.where(word == 0, alone[of], pairs[of])
        return found

    def pairs(self) -> list[tuple[int, int]]:
        """Return the goals that are pairs, each as the numbers of its clause and of its word."""
        of, word = np.divmod(self._known, self._words)
        met = word > 0
        return list(zip(of[met].tolist(), (word[met] - 1).tolist(), strict=True))

    def row(self, parts: Sequence[PartNumbers]) -> NDArray[np.int32]:
        """Return those goals of another case that have a number."""
        pairs = np.unique(self._pairs([parts])[1])
        if not len(self._known):
            return np.empty(0, np.int32)
        at = np.searchsorted(self._known, pairs)
        near = np.minimum(at, len(self._known) - 1)
        found: NDArray[np.int32] = at[self._known[near] == pairs].astype(np.int32)
        return found

    def _pairs(self, cases: Sequence[Sequence[PartNumbers]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return every pair of a clause and a word of a part, and every clause alone: the case, and the goal.

        All parts at once: part by part 2,000 cases took a second.
        """
        parts = [part for case in cases for part in case]
        owner = np.repeat(np.arange(len(cases)), [len(case) for case in cases])
        of = np.repeat(np.arange(len(parts)), [len(clauses) for clauses, _ in parts])
        clauses = np.fromiter(chain.from_iterable(part[0] for part in parts), np.int64, len(of)) * self._words
        counts = np.array([len(words) for _, words in parts], np.int64)
        words = np.fromiter(chain.from_iterable(part[1] for part in parts), np.int64, int(counts.sum()))
        # Each clause meets the words of its part, which lie in a row.
        each = counts[of]
        first = (np.cumsum(counts) - counts)[of] - (np.cumsum(each) - each)
        met = words[np.repeat(first, each) + np.arange(int(each.sum()))]
        # Word 0 is none: the clause alone.
        goals = np.concatenate([np.repeat(clauses, each) + met + 1, clauses])
        return np.concatenate([np.repeat(owner[of], each), owner[of]]), goals
