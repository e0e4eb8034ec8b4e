"""Rows of a table that have two given levels, and the search for rows that have every two levels which can meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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


@dataclass(frozen=True)
class RowCase:
    """A row, as the numbers of its levels in the order of the factors, and its case."""

    numbers: Sequence[int]
    case: Any


def nth_row(table: Table, seed: int, nth: int) -> RowCase:
    """Return a row that has the nth pair of levels of the order of a seed, and beside them any levels.

    Where no row with a meaning is found for that pair it is one for the next. Raises ``ValueError`` where no row of the
    table has a meaning.
    """
    pairs = _order(table, seed)
    for at in range(nth, nth + len(pairs)):
        # Not for secrets: the same seed must give the same rows.
        found = row_with(table, pairs[at % len(pairs)], Random(f"{table.name} {seed} {nth} {at}"))  # noqa: S311
        if found is not None:
            return found
    raise ValueError(f"no row of the table of {table.name} has a meaning")


@lru_cache(maxsize=64)
def _order(table: Table, seed: int) -> Sequence[_Numbered]:
    pairs = list(_pairs([len(levels) for levels in table.factors.values()]))
    Random(f"{table.name} {seed}").shuffle(pairs)  # noqa: S311 - an order, not a secret
    return pairs


class RowSearch:
    """Finds row after row, each of which closes as many pairs of levels as it can, and the pairs of which none is."""

    def __init__(self, table: Table, seed: int) -> None:
        """Have no row found yet."""
        self._table, self._names = table, list(table.factors)
        # Not for secrets: the same seed must give the same rows.
        self._random = Random(f"{table.name} {seed}")  # noqa: S311
        self._open = dict.fromkeys(_order(table, seed))

    def next(self) -> RowCase | Pair | None:
        """Return the next row, or pair of which none was found; ``None`` where no pair is open any more."""
        pair = next(iter(self._open), None)
        if pair is None:
            return None
        made = row_with(self._table, pair, self._random, self._open)
        if made is None:
            del self._open[pair]
            (one, first), (other, second) = pair
            return (self._names[one], first), (self._names[other], second)
        for met in combinations(enumerate(made.numbers), 2):
            self._open.pop(met, None)
        return made


def row_with(
    table: Table, pair: _Numbered, random: Random, open_: dict[_Numbered, None] | None = None
) -> RowCase | None:
    """Return a row with two levels, and its case: as many ``open_`` pairs beside them as it can have, else any levels.

    Half of the time goes to random numbers: they are drawn here as ``Random.shuffle`` and ``randrange`` draw them.
    """
    counts, bits = [len(levels) for levels in table.factors.values()], random.getrandbits
    lengths = [count.bit_length() for count in counts]
    (one, first), (other, second) = pair
    others = [at for at in range(len(counts)) if at not in (one, other)]
    for turn in range(TRIES):
        # What is still open may be what cannot be, and what is special excludes most.
        greedy, plain = open_ is not None and turn < TRIES / 3, max(0.0, 3 * turn / TRIES - 2)
        numbers = [-1] * len(counts)
        numbers[one], numbers[other] = first, second
        if greedy:
            random.shuffle(others)
        for at in others:
            if greedy:
                scores = [_new(open_ or {}, at, level, numbers) + random.random() for level in range(counts[at])]
                numbers[at] = scores.index(max(scores))
            elif random.random() < plain:
                numbers[at] = 0
            else:
                while (level := bits(lengths[at])) >= counts[at]:
                    pass
                numbers[at] = level
        case = table.make(table.row(numbers))
        if case is not None:
            return RowCase(numbers, case)
    return None


def _new(open_: dict[_Numbered, None], factor: int, level: int, numbers: Sequence[int]) -> int:
    """Return how many open pairs a level would close."""
    mine = (factor, level)
    known = ((at, number) for at, number in enumerate(numbers) if number >= 0)
    return sum(((mine, other) if factor < other[0] else (other, mine)) in open_ for other in known)


def _pairs(counts: Sequence[int]) -> Iterator[_Numbered]:
    for one, other in combinations(range(len(counts)), 2):
        for first, second in product(range(counts[one]), range(counts[other])):
            yield (one, first), (other, second)
