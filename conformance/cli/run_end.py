"""The end of a run for whoever gave the command: reports, the comparison with an earlier run, and the exit status."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from conformance.cases.whole_file import write_into, write_whole
from conformance.cli.outcome import as_data, show, show_timings
from conformance.cli.progress import print_json, printer
from conformance.cli.reporting import evicted, report_on, restored
from conformance.history.outline import Outline
from conformance.history.reading import outline_in, read_outline
from conformance.report import Report, ReportError, foreign, run_of, write_all
from conformance.report.inputs.run import LOG
from conformance.report.verdict import status_of
from conformance.report.write import PAGE
from conformance.runner.log.log import line_of
from conformance.runner.result import Result
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.workers import Worker

INCOMPLETE: Final = 3

CHANGED: Final = 1
"""The exit status where somebody changed the log or put a file in the place of the report, whatever was judged."""

SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The file that GitHub Actions shows beside a step, by the name of its variable."""

F = TypeVar("F", bound=Callable[..., Any])


class Outputs(NamedTuple):
    """What is written at the end: JSON on standard output; a comparison with the run ``against``; ``timings``."""

    as_json: bool = False
    against: Outline | None = None
    timings: bool = False


def OUTPUTS(function: F) -> F:  # noqa: N802 - it is used as the constants beside it are
    """Give a command the options that ``outputs_of`` reads."""
    compared = click.option(
        "--against", type=click.Path(path_type=Path), help="An earlier run: end with 1 for what regressed since, only."
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
    return compared(as_json(function))


def outputs_of(options: Mapping[str, Any]) -> Outputs:
    """Return what the options of ``OUTPUTS`` ask for; raise ``HistoryError`` where the earlier run cannot be read."""
    against = options.get("against")
    return Outputs(
        bool(options.get("as_json")),
        read_outline(against) if against is not None else None,
        bool(options.get("timings")),
    )


def refuse_foreign(folder: Path) -> None:
    """Raise ``ReportError`` where the report would lie over another file: said before a run, not after its hours."""
    for path in foreign(folder):
        wrong = "was not written by a report" if path.is_file() else "is no regular file"
        raise ReportError(f"{path} {wrong}; move it, or choose another folder with -o")


def reported(
    folder: Path,
    result: Result,
    workers: Mapping[str, Judgeable],
    wanted: Outputs,
    slices: Sequence[Path] = (),
) -> int:
    """Write the report, print the outcome, and return the exit status.

    ``slices`` are logs of slices that somebody else changed.
    Both come out of the memory of this process. The log that was written is held against what it was to be.
    """
    unwritten = {str(path): why for path, why in result.unwritten.items()}
    whole, gone, page = True, list[Path](), None
    with _told(unwritten, folder / LOG):
        whole = restored(folder, result.records, result.digest, result.length)
    with _told(unwritten, folder):
        gone = evicted(folder)
    changed = [*([] if whole else [folder / LOG]), *gone]
    report = report_on(run_of(folder, result.records))
    with _told(unwritten, folder / PAGE):
        page = write_all(report, folder)[0]
    status = status_of(report)
    told = None
    if wanted.against:
        told, status = _compared(folder, result, wanted.against, status, unwritten)
    _summarise(report, told, unwritten)
    if wanted.as_json:
        compared = {"against": told[0]} if told else {}
        written = {"log_changed": not whole, "unwritten": unwritten, "slices_changed": list(map(str, slices))}
        print_json({**as_data(result, report, folder, page), **written, **compared})
    else:
        console = printer()
        show(console, result, report, folder)
        if wanted.timings:
            show_timings(console, result)
        for path in changed:
            console.print(
                f"{path} was changed while the run went on; it was written again, and the run fails", markup=False
            )
        for name, worker in workers.items():
            if isinstance(worker, Worker) and worker.disorder:
                console.print(f"{name}: its process {worker.disorder} when it was told to end", markup=False)
        for line in told[1] if told else ():
            console.print(line, markup=False)
        for log in slices:
            console.print(
                f"{log} was changed by somebody else; what its slice wrote counts, and the run fails", markup=False
            )
        for name, why in unwritten.items():
            console.print(f"{name} could not be written: {why}; the run fails", markup=False)
        if page is not None:
            console.print(f"report: {page}", markup=False)
    return CHANGED if changed or unwritten or slices else status


@contextmanager
def _told(unwritten: dict[str, str], path: Path) -> Iterator[None]:
    """Note that something could not be written, by default ``path``: what was judged is said all the same."""
    try:
        yield
    except OSError as error:
        unwritten[str(error.filename or path)] = error.strerror or type(error).__name__
    except ReportError as error:
        unwritten[str(path)] = str(error).removeprefix(f"cannot write {path}: ")


Compared = tuple[dict[str, Any], list[str], str]
"""A comparison as data, lines and Markdown."""


def _compared(
    folder: Path, result: Result, against: Outline, status: int, unwritten: dict[str, str]
) -> tuple[Compared, int]:
    """Return how the run differs from an earlier one, and the status: failures of before are nobody's news."""
    from conformance.cli.commands.diff import causes_of
    from conformance.history.changes import compare
    from conformance.history.formats.comment import as_comment
    from conformance.history.formats.data import as_data as comparison_data
    from conformance.history.formats.lines import as_lines

    comparison = compare(against, outline_in(folder / LOG, b"".join(map(line_of, result.records))))
    found = causes_of(comparison)
    text = as_comment(comparison, found)
    with _told(unwritten, folder / "diff.md"):
        write_whole(folder / "diff.md", text.encode())
    told = comparison_data(comparison, found), list(as_lines(comparison, found)), text
    if comparison.regressions:
        return told, 1
    return told, max(comparison.status, INCOMPLETE if status == INCOMPLETE else 0)


def _summarise(report: Report, told: Compared | None, unwritten: dict[str, str]) -> None:
    """Append what a reader of a build wants to know to the summary of its step, where there is one."""
    path = os.environ.get(SUMMARY)
    if not path:
        return
    from conformance.report.formats.markdown import summary

    text = (told[2] + "\n" if told else "") + summary(report)
    with _told(unwritten, Path(path)):
        write_into(Path(path), text.encode(), append=True)
