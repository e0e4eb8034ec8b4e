"""Rows of tables on disk: the same as without them, whoever finds them, and whatever lies there."""

from __future__ import annotations

import subprocess
import sys
import zlib
from pathlib import Path

import msgspec
import pytest

from conformance.generate import covering
from conformance.generate.covering import ARRAY, Rows
from conformance.generate.domains import SHARDED
from conformance.generate.kept import FOLDER, folder
from conformance.generate.kept_rows import KeptRows, rows_kept
from conformance.generate.table import Row, Table
from conformance.generate.tables.programs import TABLE_OF_PROGRAMS
from conformance.runner.draws import numbered

LEVELS = {"a": range(9), "b": range(9), "c": (0, 1), "d": (0, 1)}
"""Their arrays have two turns and more."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    return folder()


def table(tried: list[Row] | None = None) -> Table:
    """Return a table that tells of each row that is tried."""

    def make(row: Row) -> str | None:
        if tried is not None:
            tried.append(row)
        return None if row["a"] == row["b"] else str(dict(row))

    return Table("kept", LEVELS, make)


def cases(of: Table, numbers: list[int] | range = range(ARRAY), seed: int = 0) -> list[str]:
    rows = Rows(of, seed)
    return [rows.case(number) for number in numbers]


def test_what_another_process_found_is_not_found_again() -> None:
    found, tried = cases(table()), list[Row]()
    with rows_kept():
        assert cases(table()) == found
        assert cases(table(tried)) == found
    assert len(tried) == ARRAY


@pytest.mark.parametrize("first", [0, 15, 16, 100, 200])
def test_a_search_goes_on_where_another_was(first: int) -> None:
    found = cases(table())
    with rows_kept():
        assert cases(table(), [first]) == [found[first]]
        assert cases(table(), [first + 3, 255, 0]) == [found[first + 3], found[255], found[0]]


def test_without_being_asked_nothing_is_kept(place: Path) -> None:
    cases(table())
    assert not place.exists()


def test_what_cannot_be_written_is_found_all_the_same(place: Path) -> None:
    found = cases(table())
    place.parent.mkdir(exist_ok=True)
    place.write_text("a file where the folder would be")
    with rows_kept():
        assert cases(table()) == found


def packed(rows: object) -> bytes:
    return zlib.compress(msgspec.json.encode(rows))


STRANGE: dict[str, bytes] = {
    "no packed text": b"nothing",
    "no rows": packed([1, 2]),
    "a level that there is not": packed(KeptRows(rows=(bytes((1, 9, 0, 0)),) * ARRAY)),
    "rows without factors": packed(KeptRows(rows=(b"",) * ARRAY)),
    "rows that are no case": packed(KeptRows(rows=(bytes(4),) * ARRAY)),
    "rows without a state": packed(KeptRows(rows=(bytes((0, 1, 0, 0)),))),
}
STATES = {
    "no random numbers": (b"", b"nothing"),
    "a pair that is not open": (bytes((0, 0, 1, 1, 0, 0, 1, 1)), bytes(2500)),
    "half a pair": (bytes((0, 0, 1)), bytes(2500)),
}


@pytest.mark.parametrize("wrong", ["cut short", *STRANGE, *STATES])
def test_what_is_damaged_or_of_others_is_found_anew(wrong: str, place: Path) -> None:
    found = cases(table())
    with rows_kept():
        cases(table(), [20])
        (file,) = place.glob("rows-*.zlib")
        kept = msgspec.json.decode(zlib.decompress(file.read_bytes()), type=KeptRows)
        changed = packed(msgspec.structs.replace(kept, state=STATES.get(wrong)))
        file.write_bytes(file.read_bytes()[:-9] if wrong == "cut short" else STRANGE.get(wrong, changed))
        assert cases(table()) == found


def test_one_finds_while_another_waits() -> None:
    text = """
import sys
sys.path.insert(0, sys.argv[1])
from conformance.generate.kept_rows import rows_kept
from tests.generate.test_kept_rows import cases, table
tried = []
with rows_kept():
    found = cases(table(tried), [200])
print(len(tried), found[0])
"""
    root = str(Path(__file__).parents[2])
    several = [subprocess.Popen([sys.executable, "-c", text, root], stdout=subprocess.PIPE) for _ in range(3)]
    said = [each.communicate()[0].decode().split(" ", 1) for each in several]
    alone: list[Row] = []
    case = cases(table(alone), [200])[0]
    assert {case for _, case in said} == {f"{case}\n"}
    assert sum(int(tries) for tries, _ in said) < 2 * len(alone)


def test_drawn_cases_are_the_same_with_rows_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covering, "rows_of", Rows)
    numbers = [number for number in range(60) if number % 16 in (4, 12)]
    drawn = [numbered(SHARDED, 5, number)[0] for number in numbers]
    with rows_kept():
        assert [numbered(SHARDED, 5, number)[0] for number in numbers] == drawn
        assert [numbered(SHARDED, 5, number)[0] for number in numbers] == drawn


@pytest.mark.slow
def test_arrays_of_programs_are_the_same_from_any_row_on() -> None:
    whole = Rows(TABLE_OF_PROGRAMS, 3)
    found = [whole.case(number) for number in range(ARRAY)]
    with rows_kept():
        assert [Rows(TABLE_OF_PROGRAMS, 3).case(number) for number in (3, 40, 90, 200, 255)] == [
            found[number] for number in (3, 40, 90, 200, 255)
        ]
