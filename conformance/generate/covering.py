"""Pairwise covering arrays over a table of factors: every two levels that can meet do, in some row.

Which can meet nobody lists. A row makes a case, or none, and the reference says whether that has a meaning. Two levels
of which no row with a meaning was found are infeasible, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from random import Random
from typing import Any, Final

Row = Mapping[str, Any]
Pair = tuple[tuple[str, int], tuple[str, int]]
"""Two factors, each with the number of one of its levels."""

TRIES: Final = 60
"""Rows that are tried for two levels before they are called infeasible: a third of them each with what is still open,
at random, and more and more plain. With 24, one in six of the pairs called infeasible in the table of programs was
not."""


@dataclass(frozen=True)
class Table:
    """Factors with their levels, the plainest first, and what makes a case of a row.

    ``make`` returns ``None`` for a row that is no case of this dialect, or one without a meaning.
    """

    name: str
    factors: Mapping[str, Sequence[Any]]
    make: Callable[[Row], Any | None]


@dataclass(frozen=True)
class Covering:
    """The cases of the rows in order, each with its row, and the pairs of levels that no case has."""

    cases: tuple[tuple[Row, Any], ...]
    infeasible: tuple[Pair, ...] = field(default=())


def covering(table: Table, seed: int = 0) -> Covering:
    """Return the rows that have every feasible pair of levels, the same for the same seed."""
    random = Random(f"{table.name} {seed}")  # noqa: S311 - not for secrets: the same seed must give the same rows
    names = list(table.factors)
    open_pairs = dict.fromkeys(_pairs(table))
    found: list[tuple[Row, Any]] = []
    infeasible: list[Pair] = []
    while open_pairs:
        pair = next(iter(open_pairs))
        made = _row_with(table, pair, open_pairs, random)
        if made is None:
            infeasible.append(pair)
            del open_pairs[pair]
            continue
        numbers, case = made
        found.append((_row(table, numbers), case))
        for met in combinations([(name, numbers[name]) for name in names], 2):
            open_pairs.pop(met, None)
    return Covering(tuple(found), tuple(infeasible))


def _pairs(table: Table) -> Iterator[Pair]:
    for one, other in combinations(table.factors, 2):
        for first, second in product(range(len(table.factors[one])), range(len(table.factors[other]))):
            yield (one, first), (other, second)


def _row_with(
    table: Table, pair: Pair, open_pairs: Mapping[Pair, None], random: Random
) -> tuple[dict[str, int], Any] | None:
    """Return a row with two levels, and its case: as many open pairs beside them as it can have, else fewer."""
    fixed = dict(pair)
    for turn in range(TRIES):
        # What is still open may be what cannot be, and what is special excludes most.
        greedy, plain = turn < TRIES / 3, max(0.0, 3 * turn / TRIES - 2)
        numbers = dict(fixed)
        order = [name for name in table.factors if name not in fixed]
        random.shuffle(order)
        for name in order:
            count = len(table.factors[name])
            if greedy:
                scores = [_new(name, level, numbers, open_pairs, table) + random.random() for level in range(count)]
                numbers[name] = scores.index(max(scores))
            else:
                numbers[name] = 0 if random.random() < plain else random.randrange(count)
        case = table.make(_row(table, numbers))
        if case is not None:
            return numbers, case
    return None


def _new(name: str, level: int, numbers: Mapping[str, int], open_pairs: Mapping[Pair, None], table: Table) -> int:
    """Return how many open pairs a level would close."""
    place = {each: at for at, each in enumerate(table.factors)}
    mine = (name, level)
    return sum(
        ((mine, other) if place[name] < place[other[0]] else (other, mine)) in open_pairs for other in numbers.items()
    )


def _row(table: Table, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {name: levels[numbers[name]] for name, levels in table.factors.items()}
