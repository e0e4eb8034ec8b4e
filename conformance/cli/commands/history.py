"""``conformance history``: many runs in one file, and what it says."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import click
from rich.table import Table

from conformance.cli.names import unknown
from conformance.cli.parameter_types import WritablePath
from conformance.cli.printing import print_json, printer
from conformance.history.reading import read_outline
from conformance.history.store.addition import add, history_file
from conformance.history.store.opening import read, written
from conformance.history.store.queries import QUERIES, metadata

HISTORY = click.option(
    "--history",
    "file",
    type=WritablePath(),
    help="The history  [default: runs/history.sqlite]",
    envvar="CONFORMANCE_HISTORY",
)


@click.group("history")
def command() -> None:
    """The history of runs: added from their logs, and asked."""


@command.command("add")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@HISTORY
@click.option("--incomplete", is_flag=True, help="Add runs that never ended too.")
def add_command(runs: tuple[Path, ...], file: Path | None, incomplete: bool) -> None:
    """Add runs to the history; a run that is there already changes nothing.

    Several may add at once. A history has nothing that the logs do not say: it is made again by adding them to a new
    file, in any order.
    """
    path = history_file(file)
    for folder in runs:
        outline = read_outline(folder)
        with written(path) as connection:
            told = add(connection, outline, incomplete=incomplete)
        print(f"{folder}: {told}")


@command.command("show")
@click.argument("query", metavar="[QUERY]", default="runs")
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1)
@HISTORY
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show_command(query: str, values: tuple[str, ...], file: Path | None, as_json: bool) -> None:
    """Print what the history says: conforms, regressions, findings, case, unstable, speed, runs."""
    if query not in QUERIES:
        raise click.UsageError(unknown("query", query, QUERIES))
    given = dict(value.partition("=")[::2] for value in values)
    with read(history_file(file)) as connection:
        try:
            found = connection.execute(QUERIES[query].sql, given)
        except sqlite3.ProgrammingError:
            raise click.UsageError(f"the query {query} asks for names: {_asked(query)}; write NAME=VALUE") from None
        columns, rows = [column[0] for column in found.description], found.fetchall()
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    table = Table(*columns, title=QUERIES[query].title)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row))
    printer().print(table)


def _asked(query: str) -> str:
    words = QUERIES[query].sql.replace(",", " ").split()
    return ", ".join(dict.fromkeys(word[1:] for word in words if word.startswith(":")))


@command.command("metadata")
@HISTORY
def metadata_command(file: Path | None) -> None:
    """Print the canned queries as datasette takes them: `datasette history.sqlite -m metadata.json`."""
    print_json(metadata(history_file(file).stem))
