"""Covering arrays: every two levels that can meet do, and those that cannot are told."""

from __future__ import annotations

from itertools import combinations

import pytest

from conformance.generate.choices import DealtDraw, Draw
from conformance.generate.covering import covering, rows
from conformance.generate.table import Row, Table
from conformance.generate.tables.graphs import TABLE_OF_GRAPHS
from conformance.generate.tables.programs import TABLE_OF_PROGRAMS
from conformance.generate.tables.sharded import TABLE_OF_SHARDED
from conformance.generate.tables.typed import TABLE_OF_TYPED
from conformance.runner.dialects import trial
from conformance.runner.draws import Numbers

LEVELS = {"a": (0, 1, 2), "b": (0, 1, 2), "c": (0, 1), "d": (0, 1)}


def make(row: Row) -> str | None:
    """Make a case of all rows but those in which two levels exclude each other."""
    return None if row["a"] == 2 and row["b"] == 2 else str(dict(row))


def pairs(rows: list[Row]) -> set[tuple[tuple[str, int], tuple[str, int]]]:
    return {pair for row in rows for pair in combinations(row.items(), 2)}


def test_every_feasible_pair_is_in_some_row() -> None:
    made = covering(Table("small", LEVELS, make))
    every = pairs(
        [
            dict(zip(LEVELS, (a, b, c, d), strict=True))
            for a in (0, 1, 2)
            for b in (0, 1, 2)
            for c in (0, 1)
            for d in (0, 1)
        ]
    )
    assert every - pairs([row for row, _ in made.cases]) == {(("a", 2), ("b", 2))}
    assert len(made.cases) < 20


def test_what_cannot_meet_is_told() -> None:
    assert covering(Table("small", LEVELS, make)).infeasible == ((("a", 2), ("b", 2)),)


def test_the_same_seed_gives_the_same_rows() -> None:
    table = Table("small", LEVELS, make)
    assert covering(table, 3) == covering(table, 3)
    assert covering(table, 3).cases != covering(table, 4).cases


def test_rows_are_each_found_alone_and_have_every_feasible_pair_in_time() -> None:
    tried: list[Row] = []

    def told(row: Row) -> Row | None:
        tried.append(row)
        return None if make(row) is None else row

    choice = rows(Table("small", LEVELS, told))
    made = [choice.make(Draw(Numbers(None), dealt=DealtDraw("row", nth, 0))) for nth in range(37)]
    assert len(pairs(made)) == 36  # of 37 pairs one cannot be
    assert all(row == choice.make(Draw(Numbers(None), dealt=DealtDraw("row", nth, 0))) for nth, row in enumerate(made))
    before = len(tried)
    choice.make(Draw(Numbers(None), dealt=DealtDraw("row", 10**9, 0)))
    assert len(tried) < before + 130


def test_a_table_of_which_no_row_has_a_meaning_is_named() -> None:
    with pytest.raises(ValueError, match="no row of the table of nothing has a meaning"):
        rows(Table("nothing", LEVELS, lambda _: None)).make(Draw(Numbers(None)))


@pytest.mark.parametrize(
    "table", [TABLE_OF_PROGRAMS, TABLE_OF_GRAPHS, TABLE_OF_SHARDED, TABLE_OF_TYPED], ids=lambda each: each.name
)
def test_the_plainest_row_of_each_table_is_a_legal_case(table: Table) -> None:
    case = table.make({name: levels[0] for name, levels in table.factors.items()})
    assert case is not None
    one = trial(case)
    assert one is not None
    assert one.facts.legal


@pytest.mark.slow
@pytest.mark.parametrize(
    "table", [TABLE_OF_PROGRAMS, TABLE_OF_GRAPHS, TABLE_OF_SHARDED, TABLE_OF_TYPED], ids=lambda each: each.name
)
def test_every_level_of_each_table_is_in_some_case(table: Table) -> None:
    rows = [row for row, _ in covering(table).cases]
    for name, levels in table.factors.items():
        missing = [level for level in levels if not any(row[name] == level for row in rows)]
        assert missing == []
