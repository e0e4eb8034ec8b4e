"""Pairwise covering arrays over a table of factors: every two levels that can meet do, in some row.

Which can meet nobody lists. A row makes a case, or none, and the reference says whether that has a meaning. Two levels
of which no row with a meaning was found are infeasible, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from conformance.generate.choices import Choice, Draw
from conformance.generate.row_search import Pair, RowCase, RowSearch, nth_row
from conformance.generate.table import Row, Table

T = TypeVar("T")


@dataclass(frozen=True)
class Covering:
    """The cases of the rows in order, each with its row, and the pairs of levels that no case has."""

    cases: tuple[tuple[Row, Any], ...]
    infeasible: tuple[Pair, ...] = field(default=())


def covering(table: Table, seed: int = 0) -> Covering:
    """Return few rows that have every feasible pair of levels, the same for the same seed."""
    found: list[tuple[Row, Any]] = []
    infeasible: list[Pair] = []
    search = RowSearch(table, seed)
    while (made := search.next()) is not None:
        if isinstance(made, RowCase):
            found.append((table.row(made.numbers), made.case))
        else:
            infeasible.append(made)
    return Covering(tuple(found), tuple(infeasible))


def rows(table: Table, pack: int = 1, packed: Callable[[Sequence[Any]], T] = lambda cases: cases[0]) -> Choice[T]:
    """Return the choice of the row that is dealt, or of so many rows in a row packed in one case.

    Each has the next pair of levels of the order of the seed, so that in time all have every pair; no row is found for
    another. It is the first of all where a draw is dealt none.
    """

    def make(draw: Draw) -> T:
        nth, seed = (draw.dealt.nth, draw.dealt.seed) if draw.dealt else (0, 0)
        return packed([nth_row(table, seed, nth * pack + at).case for at in range(pack)])

    return Choice(make)
