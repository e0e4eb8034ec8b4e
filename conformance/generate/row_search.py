"""The search for rows of a table that have every two levels which can meet, one row after the other.

What comes next follows from the table, the seed and what came before it; a search goes on elsewhere from its state.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random
from typing import Any, Final

from conformance.generate.table import Table

Pair = tuple[tuple[str, int], tuple[str, int]]
"""Two factors, each with the number of one of its levels."""

_Numbered = tuple[tuple[int, int], tuple[int, int]]
"""The same by the numbers of the factors."""

TRIES: Final = 60
"""Rows that are tried for two levels before they are called infeasible: a third of them each with what is still open,
at random, and more and more plain. With 24, one in six of the pairs called infeasible in the table of programs was
not."""

_WORDS: Final = struct.Struct("<625I")
"""The state of a generator of random numbers."""


@dataclass(frozen=True)
class RowCase:
    """A row, as the numbers of its levels in the order of the factors, and its case."""

    numbers: Sequence[int]
    case: Any


class RowSearch:
    """Finds row after row, and between them the pairs of levels of which no row with a meaning was found.

    ``greedy`` rows close as many pairs each as they can, and take ten times as long to find.
    """

    def __init__(self, table: Table, seed: int, *, greedy: bool = False) -> None:
        """Have no row found yet."""
        self._table, self._greedy = table, greedy
        # Not for secrets: the same seed must give the same rows.
        self._random = Random(f"{table.name} {seed}")  # noqa: S311
        self._names = list(table.factors)
        self._counts = [len(levels) for levels in table.factors.values()]
        pairs = list(_pairs(self._counts))
        self._random.shuffle(pairs)
        self._open = dict.fromkeys(pairs)
        self._infeasible = bytearray()

    def next(self) -> RowCase | Pair | None:
        """Return the next row, or pair of which none was found; ``None`` where no pair is open any more."""
        pair = next(iter(self._open), None)
        if pair is None:
            return None
        made = self._row_with(pair)
        if made is None:
            self._give_up(pair)
            (one, first), (other, second) = pair
            return (self._names[one], first), (self._names[other], second)
        self._close(made.numbers)
        return made

    def state(self) -> tuple[bytes, bytes]:
        """Return what a search for the same seed goes on by, beside the rows: infeasible pairs, and random numbers."""
        return bytes(self._infeasible), _WORDS.pack(*self._random.getstate()[1])

    def resume(self, rows: Sequence[bytes], infeasible: bytes, random: bytes) -> None:
        """Go on where another search was, before anything is found here; raise ``ValueError`` for what is no state."""
        try:
            self._random.setstate((3, _WORDS.unpack(random), None))
            for numbers in rows:
                self._close(numbers)
            for at in range(0, len(infeasible), 4):
                one, first, other, second = infeasible[at : at + 4]
                self._give_up(((one, first), (other, second)))
        except (struct.error, KeyError) as error:
            raise ValueError(f"no search of {self._table.name} has that state: {error}") from None

    def _close(self, numbers: Sequence[int]) -> None:
        for met in combinations(enumerate(numbers), 2):
            self._open.pop(met, None)

    def _give_up(self, pair: _Numbered) -> None:
        del self._open[pair]
        self._infeasible.extend((*pair[0], *pair[1]))

    def _row_with(self, pair: _Numbered) -> RowCase | None:
        """Return a row with two levels, and its case: as many open pairs beside them as it can have, else any levels.

        Half of the time goes to random numbers: they are drawn here as ``Random.shuffle`` and ``randrange`` draw them.
        """
        counts, random, bits = self._counts, self._random.random, self._random.getrandbits
        lengths = [count.bit_length() for count in counts]
        (one, first), (other, second) = pair
        others = [at for at in range(len(counts)) if at not in (one, other)]
        swaps = [(at, (at + 1).bit_length()) for at in range(len(others) - 1, 0, -1)]
        for turn in range(TRIES):
            # What is still open may be what cannot be, and what is special excludes most.
            greedy, plain = self._greedy and turn < TRIES / 3, max(0.0, 3 * turn / TRIES - 2)
            numbers = [-1] * len(counts)
            numbers[one], numbers[other] = first, second
            order = others.copy()
            for at, length in swaps:
                while (to := bits(length)) > at:
                    pass
                order[at], order[to] = order[to], order[at]
            for at in order:
                if greedy:
                    scores = [self._new(at, level, numbers) + random() for level in range(counts[at])]
                    numbers[at] = scores.index(max(scores))
                elif random() < plain:
                    numbers[at] = 0
                else:
                    while (level := bits(lengths[at])) >= counts[at]:
                        pass
                    numbers[at] = level
            case = self._table.make(self._table.row(numbers))
            if case is not None:
                return RowCase(numbers, case)
        return None

    def _new(self, factor: int, level: int, numbers: Sequence[int]) -> int:
        """Return how many open pairs a level would close."""
        mine = (factor, level)
        known = ((at, number) for at, number in enumerate(numbers) if number >= 0)
        return sum(((mine, other) if factor < other[0] else (other, mine)) in self._open for other in known)


def _pairs(counts: Sequence[int]) -> Iterator[_Numbered]:
    for one, other in combinations(range(len(counts)), 2):
        for first, second in product(range(counts[one]), range(counts[other])):
            yield (one, first), (other, second)
