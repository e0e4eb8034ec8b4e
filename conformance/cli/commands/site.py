"""``conformance site``: static pages over many runs."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from conformance.cases.escapes import printable
from conformance.cli.commands.history import HISTORY
from conformance.cli.parameter_types import WritablePath
from conformance.history.reading import read_outline
from conformance.history.site.making import make
from conformance.history.site.publishing import check_own
from conformance.history.store.addition import add, history_file
from conformance.history.store.opening import read, written


@click.command("site")
@click.argument("folder", metavar="DIR", type=WritablePath())
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path))
@HISTORY
@click.option("--incomplete", is_flag=True, help="Show runs that never ended too, where runs are named.")
@click.option("--database", is_flag=True, help="Put the history beside the pages, for datasette.")
def command(folder: Path, runs: tuple[Path, ...], file: Path | None, incomplete: bool, database: bool) -> None:
    """Publish the history in DIR: pages that need no server and no network, JSON and badges.

    The history is a file of `conformance history add`, or that of the runs named here alone. DIR is replaced by one
    rename, so that a reader sees what was there before or what is new.
    """
    check_own(folder.absolute())
    now = _now()
    if not runs:
        with read(history_file(file)) as connection:
            page = make(connection, folder, now, database=database)
    else:
        if file is not None:
            raise click.UsageError("name runs, or a history with --history, not both")
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "history.sqlite")
            with written(path) as connection:
                for one in runs:
                    add(connection, read_outline(one), incomplete=incomplete)
            with read(path) as connection:
                page = make(connection, folder, now, database=database)
    print(f"site: {page}")


def _now() -> str:
    """Return the time, or that of ``SOURCE_DATE_EPOCH``, by which builds are made again alike.

    Raise ``UsageError`` where that is no number of seconds, or one of a year that no date has.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return datetime.now(UTC).isoformat(timespec="seconds")
    try:
        return datetime.fromtimestamp(int(given), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        raise click.UsageError(
            f"SOURCE_DATE_EPOCH={printable(given):.40}: it should be a whole number of seconds since 1970, up to the "
            "year 9999"
        ) from None
