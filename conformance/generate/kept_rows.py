"""The rows of tables that were found before, kept on disk: an array of 256 takes one to three seconds to find."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import msgspec

from conformance.generate.kept import alone, found, keep
from conformance.generate.table import Table

_KEEPING: Final = ContextVar("_KEEPING", default=False)


class KeptRows(msgspec.Struct, frozen=True):
    """The rows of an array as far as they were found, a byte for each factor, and how the search goes on.

    It is in its ``turn``, with so many rows from those ``before``; its ``state`` is that of ``RowSearch``. Where it
    has no state it begins, or is over.
    """

    rows: tuple[bytes, ...] = ()
    turn: int = 0
    before: int = 0
    state: tuple[bytes, bytes] | None = None


@dataclass(frozen=True)
class Shelf:
    """Where the rows of one array are kept."""

    table: Table
    name: str

    def kept(self) -> KeptRows | None:
        """Return what is there, ``None`` where that is nothing, or cannot be of this table."""
        kept = found(self.name, KeptRows)
        most = [len(levels) for levels in self.table.factors.values()]
        if kept is None or not all(_fits(row, most) for row in kept.rows):
            return None
        return kept

    def keep(self, rows: KeptRows) -> None:
        """Keep rows, where anything can be kept."""
        with suppress(OSError):
            keep(self.name, rows)

    def alone(self) -> AbstractContextManager[None]:
        """Keep others from finding rows of this array meanwhile."""
        return alone(self.name)


@contextmanager
def rows_kept() -> Iterator[None]:
    """Have rows of tables kept within, and taken from where they are kept.

    By default they are not: a process that judges by a changed reference finds other rows.
    """
    token = _KEEPING.set(True)
    try:
        yield
    finally:
        _KEEPING.reset(token)


def shelf_of(table: Table, seed: int) -> Shelf | None:
    """Return where the rows of a table for a seed are kept; ``None`` where none are."""
    if not _KEEPING.get():
        return None
    return Shelf(table, f"rows-{hashlib.sha256(table.name.encode()).hexdigest()[:16]}-{seed}")


def _fits(row: bytes, most: list[int]) -> bool:
    return len(row) == len(most) and all(number < count for number, count in zip(row, most, strict=True))
