"""Pairwise covering arrays over a table of factors: every two levels that can meet do, in some row.

Which can meet nobody lists. A row makes a case, or none, and the reference says whether that has a meaning. Two levels
of which no row with a meaning was found are infeasible, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeVar

from conformance.generate.choices import Choice, Draw
from conformance.generate.kept_rows import KeptRows, Shelf, shelf_of
from conformance.generate.row_search import Pair, RowCase, RowSearch
from conformance.generate.table import Row, Table

T = TypeVar("T")

SEEDS: Final = 1 << 32
"""How far the seed of the rows behind the last one is from that of the first."""

ARRAY: Final = 256
"""Rows of one array; draws behind them have an array of their own, so that a draw far out, as a slice or a narrow
backend has it, costs no more than 256 rows."""

AT_ONCE: Final = 16
"""Rows that are found at a time where others are to have them, too: each time they are read and written again."""


@dataclass(frozen=True)
class Covering:
    """The cases of the rows in order, each with its row, and the pairs of levels that no case has."""

    cases: tuple[tuple[Row, Any], ...]
    infeasible: tuple[Pair, ...] = field(default=())


def covering(table: Table, seed: int = 0) -> Covering:
    """Return the rows that have every feasible pair of levels, the same for the same seed."""
    found: list[tuple[Row, Any]] = []
    infeasible: list[Pair] = []
    search = RowSearch(table, seed, greedy=True)
    while (made := search.next()) is not None:
        if isinstance(made, RowCase):
            found.append((table.row(made.numbers), made.case))
        else:
            infeasible.append(made)
    return Covering(tuple(found), tuple(infeasible))


class Rows:
    """The cases of an array of rows of a table for a seed, as many as were asked for; behind the last row others begin.

    A row is held as a byte for each factor, and its case made again where it is asked for after others: a case takes
    four kilobytes, and a run has an array for 2,000 draws. Rows that other processes found are taken from a shelf,
    where there is one.
    """

    def __init__(self, table: Table, seed: int) -> None:
        """Have no row found yet."""
        self._table, self._seed, self._trusts = table, seed, True
        self._search: RowSearch | None = None
        self._last: tuple[int, Any]
        self._take(KeptRows())

    def case(self, nth: int) -> Any:
        """Return the case of a row by its number, below ``ARRAY``.

        Raises ``ValueError`` where no row of the table has a meaning.
        """
        if nth >= len(self._rows):
            self._find(nth + 1)
        at, case = self._last
        self._last = (-1, None)
        if at != nth:
            case = self._table.make(self._table.row(self._rows[nth]))
        if case is None:  # whoever kept this row did not find it
            self._begin_alone()
            return self.case(nth)
        return case

    def _find(self, count: int) -> None:
        """Have so many rows."""
        shelf = shelf_of(self._table, self._seed) if self._trusts else None
        if shelf is None:
            self._extend(count)
        elif not self._has(shelf, count):
            with shelf.alone():
                if not self._has(shelf, count):  # somebody else may have found them meanwhile
                    self._extend(min(ARRAY, -(-count // AT_ONCE) * AT_ONCE))
                    shelf.keep(self._kept())

    def _has(self, shelf: Shelf, count: int) -> bool:
        """Take what is on a shelf, where that is more than what is here; return whether there are so many rows now."""
        kept = shelf.kept()
        if kept is not None and len(kept.rows) > len(self._rows) and (kept.state or len(kept.rows) == ARRAY):
            self._take(kept)
        return len(self._rows) >= count

    def _take(self, kept: KeptRows) -> None:
        """Go on from what was found."""
        self._rows, self._turn, self._before = list(kept.rows), kept.turn, kept.before
        self._state, self._search, self._last = kept.state, None, (-1, None)

    def _begin_alone(self) -> None:
        """Find all rows here."""
        self._trusts = False
        self._take(KeptRows())

    def _kept(self) -> KeptRows:
        """Return what was found, and what another goes on by."""
        state = self._search.state() if self._search is not None else None
        return KeptRows(rows=tuple(self._rows), turn=self._turn, before=self._before, state=state)

    def _extend(self, count: int) -> None:
        """Find rows until there are so many."""
        search = self._search or self._begun()
        while len(self._rows) < count:
            made = search.next()
            if isinstance(made, RowCase):
                self._rows.append(bytes(made.numbers))
                self._last = (len(self._rows) - 1, made.case)
            elif made is None:
                if not self._rows:
                    raise ValueError(f"no row of the table of {self._table.name} has a meaning")
                self._turn, self._before = self._turn + 1, len(self._rows)
                search = RowSearch(self._table, self._seed + self._turn * SEEDS)
        # With the pairs that are open: nobody asks for more of this array.
        self._search = search if len(self._rows) < ARRAY else None

    def _begun(self) -> RowSearch:
        """Return the search that the rows are of."""
        search = RowSearch(self._table, self._seed + self._turn * SEEDS)
        if self._state is not None:
            try:
                search.resume(self._rows[self._before :], *self._state)
            except ValueError:
                self._begin_alone()
                return self._begun()
        return search


@lru_cache(maxsize=64)
def rows_of(table: Table, seed: int) -> Rows:
    """Return the rows of a table for a seed."""
    return Rows(table, seed)


def rows(table: Table, pack: int = 1, packed: Callable[[Sequence[Any]], T] = lambda cases: cases[0]) -> Choice[T]:
    """Return the choice of the row that is dealt, or of so many rows in a row packed in one case.

    The plainest row where a draw is dealt none. Raises ``ValueError`` where packs do not fill an array.
    """
    if ARRAY % pack:
        raise ValueError(f"packs of {pack} rows do not fill an array of {ARRAY}; let their size divide it")

    def make(draw: Draw) -> T:
        nth, seed = (draw.dealt.nth, draw.dealt.seed) if draw.dealt else (0, 0)
        turn, first = divmod(nth * pack, ARRAY)
        array = rows_of(table, seed + turn * SEEDS * SEEDS)
        return packed([array.case(first + at) for at in range(pack)])

    return Choice(make)
