"""Whether a file has what this suite writes into a history: a file that was handed in may have anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from conformance.history.store.schema import TABLES, VIEWS

JSON: Final = ("environment", "description")
"""Columns of which the text is a JSON object."""

_TYPES: Final = {"INTEGER": "integer", "TEXT": "text", "REAL": "real"}

_LARGEST: Final = 1.7976931348623157e308


def create(connection: sqlite3.Connection) -> None:
    """Make tables, indexes and views in an empty database."""
    for statement in f"{TABLES}{VIEWS}".split(";\n"):
        connection.execute(statement)


def wrong_content(connection: sqlite3.Connection) -> str | None:
    """Return what is otherwise than this suite writes it, if anything is: a table, a view, a value, a named row.

    A view that never ends would be a question without an answer, and a trigger would change what is added.
    """
    made = sqlite3.connect(":memory:")
    try:
        create(made)
        ours = _objects(made)
        theirs = _objects(connection)
        for name, how in ours.items():
            if theirs.get(name) != how:
                return f"{name!r} is not as this version makes it"
        trigger = next((name for name, how in theirs.items() if how[0] == "trigger"), None)
        if trigger is not None:
            return f"it has a trigger, {trigger!r:.80}"
        tables = [name for name, how in ours.items() if how[0] == "table"]
        return next(filter(None, (_wrong_value(connection, table) for table in tables)), None) or _unnamed(connection)
    finally:
        made.close()


def _objects(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    rows = connection.execute("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: (kind, sql) for name, kind, sql in rows}


def _wrong_value(connection: sqlite3.Connection, table: str) -> str | None:
    """Return the first column of a table that has a value of another type, or JSON that is no object."""
    for column, test in _tests(connection, table):
        if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {table} WHERE NOT ({test}))").fetchone()[0]:  # noqa: S608 - our own columns
            return f"{table}.{column} has a value that is none of its kind"
    return None


def _tests(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    for _, column, kind, needed, _, key in connection.execute(f"PRAGMA table_info({table})"):
        test = f"typeof({column}) = '{_TYPES[kind]}'"
        if kind == "REAL":
            test = f"({test} AND {column} BETWEEN -{_LARGEST!r} AND {_LARGEST!r})"
        if column in JSON:
            test = f"CASE WHEN {test} AND json_valid({column}) THEN json_type({column}) = 'object' ELSE 0 END"
        yield column, test if needed or key else f"({test} OR {column} IS NULL)"


def _unnamed(connection: sqlite3.Connection) -> str | None:
    """Return which row names a run, a case or a backend of a run that is not there."""
    found = connection.execute("PRAGMA foreign_key_check").fetchone()
    if found is not None:
        return f"a row of {found[0]} names one of {found[2]} that is not there"
    for table in ("cells", "findings"):
        judged = "SELECT 1 FROM judged j WHERE j.run = t.run AND j.backend = t.backend"
        if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {table} t WHERE NOT EXISTS ({judged}))").fetchone()[0]:  # noqa: S608 - our own tables
            return f"a row of {table} names a backend that its run did not judge"
    return None
