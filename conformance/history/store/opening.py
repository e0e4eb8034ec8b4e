"""Opening a history: one that is there, or a new one; never a file that is something else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from conformance.history.error import HistoryError
from conformance.history.store.content import create, wrong_content
from conformance.history.store.schema import APPLICATION, VERSION

WAIT: Final = 300.0
"""Seconds that one who writes waits for another: thirty additions of 100,000 records, one after the other."""


@contextmanager
def written(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a history to write in one transaction, made where there is none; nothing is kept where an error is raised.

    Raise ``HistoryError`` for a file that is no history, or one of another form.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = _connected(path, WAIT)
    try:
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
            create(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        _check(connection, path)
        yield connection
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise HistoryError(f"{path} cannot be written: {error}") from None
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from None
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.close()


@contextmanager
def read(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a history to read; raise ``HistoryError`` where there is none, and for one that has anything else in it."""
    if not path.is_file():
        raise HistoryError(f"no history {path}; `conformance history add RUN --history {path}` makes one")
    connection = _connected(path, WAIT)
    try:
        connection.execute("PRAGMA query_only = 1")
        _check(connection, path)
        yield connection
    except sqlite3.ProgrammingError:  # whoever asks asked wrongly
        raise
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from None
    finally:
        connection.close()


def _connected(path: Path, wait: float) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
    except sqlite3.DatabaseError as error:
        raise HistoryError(f"{path} is no history: {error}; name another file") from None
    try:
        connection.execute("SELECT COUNT(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise HistoryError(f"{path} is no history: {error}; name another file") from None
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        raise HistoryError(f"{path} is a database of something else; name another file")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise HistoryError(
            f"{path} has form {version} and this version writes form {VERSION}; make it again from the run logs"
        )
    if wrong := wrong_content(connection):
        raise _damaged(path, wrong)


def _damaged(path: Path, why: str) -> HistoryError:
    return HistoryError(f"{path} is damaged: {why}; make it again from the run logs")
