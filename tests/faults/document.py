"""docs/faults.md, of the tables beside this file: ``python -m tests.faults.document`` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.faults import (
    answers,
    command_lines,
    files,
    foreign,
    histories,
    introductions,
    links,
    methods,
    outputs,
    placements,
    processes,
    reach,
    run_folders,
    slices,
)
from tests.faults.fault import Table

PATH: Final = Path(__file__).parents[2] / "docs" / "faults.md"

TABLES: Final = (
    processes.TABLE,
    answers.TABLE,
    methods.TABLE,
    introductions.TABLE,
    *files.TABLES.values(),
    slices.TABLE,
    histories.TABLE,
    foreign.TABLE,
    links.TABLE,
    outputs.TABLE,
    run_folders.TABLE,
    placements.TABLE,
    placements.ACROSS,
    command_lines.TABLE,
    reach.TABLE,
)

HEAD: Final = """# Faults

What somebody else's process, file or command line can do to a run, and what comes of it. Each line is a test of
`tests/faults`; this page is written from its tables by `python -m tests.faults.document`.

A backend runs in a process of its own, is told no expected value, and answers on a private pipe. It can lose the case
that it is asked about, and with too many restarts the rest of its cases, which are then counted as not run. What a
run says, its page and its exit status come out of the runner's memory, to which `conformance` closes its process
while there are workers; a log that is not as it was written is named, written again, and makes the status 1, and so
does what cannot be written. A slice of `run --jobs` counts as its process wrote it, whatever its file has later.
Files are read as data and never run, but for the scripts of a report that `conformance reproduce REPORT --run` is
told to run; cases, questions and schedules ask for no more work than is allowed, which is
known before it begins, and the cases of a file of known failures ask for no more together than one may. What a judged
process can reach all the same the last table says.
"""


def text() -> str:
    """Return the page."""
    count = sum(len(table.faults) for table in TABLES)
    parts = [HEAD, f"There are {count} kinds.\n"]
    parts += [_section(table) for table in TABLES]
    return "\n".join(parts)


def _section(table: Table) -> str:
    more = len(table.columns) > 2
    rows = [f"| {_cell(fault.done)} | {fault.seen if more else _cell(fault.seen)} |" for fault in table.faults]
    head = f"| {' | '.join(table.columns)} |"
    return "\n".join([f"## {table.heading}\n", f"{table.says}\n", head, "|" + "---|" * len(table.columns), *rows, ""])


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
