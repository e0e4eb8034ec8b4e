"""Pairwise covering arrays over a table of factors: every two levels that can meet do, in some row.

Which can meet nobody lists. A row makes a case, or none, and the reference says whether that has a meaning. Two levels
of which no row with a meaning was found are infeasible, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, product
from random import Random
from typing import Any, Final, TypeVar

from conformance.generate.choices import Choice, Draw

T = TypeVar("T")

Row = Mapping[str, Any]
Pair = tuple[tuple[str, int], tuple[str, int]]
"""Two factors, each with the number of one of its levels."""

TRIES: Final = 60
"""Rows that are tried for two levels before they are called infeasible: a third of them each with what is still open,
at random, and more and more plain. With 24, one in six of the pairs called infeasible in the table of programs was
not."""


SEEDS: Final = 1 << 32
"""How far the seed of the rows behind the last one is from that of the first."""

ARRAY: Final = 256
"""Rows of one array; draws behind them have an array of their own, so that a draw far out, as a slice or a narrow
backend has it, costs no more than 256 rows."""


@dataclass(frozen=True, eq=False)
class Table:
    """Factors with their levels, the plainest first, and what makes a case of a row.

    ``make`` returns ``None`` for a row that is no case of this dialect, or one without a meaning.
    """

    name: str
    factors: Mapping[str, Sequence[Any]]
    make: Callable[[Row], Any | None]

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a factor without levels."""
        for name, levels in self.factors.items():
            if not levels:
                raise ValueError(f"the factor {name!r} of the table of {self.name} has no levels; it needs one")

    def limited(self, of: str, **levels: Sequence[Any]) -> Table:
        """Return the table of some levels of some factors, under a name that says ``of`` what."""
        return Table(f"{self.name} of {of}", {**self.factors, **levels}, self.make)


@dataclass(frozen=True)
class Covering:
    """The cases of the rows in order, each with its row, and the pairs of levels that no case has."""

    cases: tuple[tuple[Row, Any], ...]
    infeasible: tuple[Pair, ...] = field(default=())


def covering(table: Table, seed: int = 0) -> Covering:
    """Return the rows that have every feasible pair of levels, the same for the same seed."""
    found: list[tuple[Row, Any]] = []
    infeasible: list[Pair] = []
    for made in _rows(table, seed, greedy=True):
        if isinstance(made, RowCase):
            found.append((_row(table, made.numbers), made.case))
        else:
            infeasible.append(made)
    return Covering(tuple(found), tuple(infeasible))


@dataclass(frozen=True)
class RowCase:
    """A row, as the numbers of its levels in the order of the factors, and its case."""

    numbers: Sequence[int]
    case: Any


def _rows(table: Table, seed: int, *, greedy: bool = False) -> Iterator[RowCase | Pair]:
    """Yield row after row, and between them the pairs of levels of which no row with a meaning was found.

    ``greedy`` rows close as many pairs each as they can, and take ten times as long to find.
    """
    random = Random(f"{table.name} {seed}")  # noqa: S311 - not for secrets: the same seed must give the same rows
    names = list(table.factors)
    pairs = list(_pairs(table))
    random.shuffle(pairs)
    open_pairs = dict.fromkeys(pairs)
    del pairs  # what is closed is let go
    while open_pairs:
        pair = next(iter(open_pairs))
        made = _row_with(table, pair, open_pairs if greedy else {}, random)
        if made is None:
            del open_pairs[pair]
            yield pair
            continue
        numbers, case = made
        for met in combinations([(name, numbers[name]) for name in names], 2):
            open_pairs.pop(met, None)
        yield RowCase([numbers[name] for name in names], case)


class Rows:
    """The cases of an array of rows of a table for a seed, as many as were asked for; behind the last row others begin.

    A row is kept as a byte for each factor, and its case made again where it is asked for after others: a case takes
    four kilobytes, and a run has an array for 2,000 draws.
    """

    def __init__(self, table: Table, seed: int) -> None:
        """Have no row made yet."""
        self._table, self._seed, self._turn = table, seed, 0
        self._rows: list[bytes] = []
        self._last: Any = None
        self._left = _rows(table, seed)

    def case(self, nth: int) -> Any:
        """Return the case of a row by its number, below ``ARRAY``.

        Raises ``ValueError`` where no row of the table has a meaning.
        """
        made_now = nth >= len(self._rows)
        while nth >= len(self._rows):
            made = next(self._left, None)
            if isinstance(made, RowCase):
                self._rows.append(bytes(made.numbers))
                self._last = made.case
            elif made is None:
                if not self._rows:
                    raise ValueError(f"no row of the table of {self._table.name} has a meaning")
                self._turn += 1
                self._left = _rows(self._table, self._seed + self._turn * SEEDS)
        if len(self._rows) == ARRAY:
            self._left = iter(())  # with the pairs that are open: nobody asks for more of this array
        return self._last if made_now else self._table.make(_row(self._table, self._rows[nth]))


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


def _pairs(table: Table) -> Iterator[Pair]:
    for one, other in combinations(table.factors, 2):
        for first, second in product(range(len(table.factors[one])), range(len(table.factors[other]))):
            yield (one, first), (other, second)


def _row_with(
    table: Table, pair: Pair, open_pairs: Mapping[Pair, None], random: Random
) -> tuple[dict[str, int], Any] | None:
    """Return a row with two levels, and its case: as many open pairs beside them as it can have, else any levels."""
    fixed, place = dict(pair), {name: at for at, name in enumerate(table.factors)}
    for turn in range(TRIES):
        # What is still open may be what cannot be, and what is special excludes most.
        greedy, plain = bool(open_pairs) and turn < TRIES / 3, max(0.0, 3 * turn / TRIES - 2)
        numbers = dict(fixed)
        order = [name for name in table.factors if name not in fixed]
        random.shuffle(order)
        for name in order:
            count = len(table.factors[name])
            if greedy:
                scores = [_new(place, name, level, numbers, open_pairs) + random.random() for level in range(count)]
                numbers[name] = scores.index(max(scores))
            else:
                numbers[name] = 0 if random.random() < plain else random.randrange(count)
        case = table.make({name: levels[numbers[name]] for name, levels in table.factors.items()})
        if case is not None:
            return numbers, case
    return None


def _new(
    place: Mapping[str, int], name: str, level: int, numbers: Mapping[str, int], open_pairs: Mapping[Pair, None]
) -> int:
    """Return how many open pairs a level would close."""
    mine, at = (name, level), place[name]
    return sum(((mine, other) if at < place[other[0]] else (other, mine)) in open_pairs for other in numbers.items())


def _row(table: Table, numbers: Sequence[int]) -> dict[str, Any]:
    return {name: levels[number] for (name, levels), number in zip(table.factors.items(), numbers, strict=True)}
