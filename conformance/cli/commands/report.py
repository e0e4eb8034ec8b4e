"""``conformance report``: run logs in, a report out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from conformance.cli.opening import output
from conformance.cli.parameter_types import WritablePath
from conformance.cli.progress import printer
from conformance.cli.reporting import report_of
from conformance.report import write_all
from conformance.report.formats.json import as_json as report_as_json
from conformance.report.verdict import status_of

INCOMPLETE: Final = 3


@click.command("report")
@click.argument("directories", metavar="DIR...", nargs=-1, required=True, type=WritablePath())
@click.option("-o", "--output", "directory", type=WritablePath(), help="Folder [default: the run's own].")
@click.option("--expectations", type=click.Path(path_type=Path), help="Folder: explanations and known failures.")
@click.option("--qualification", type=click.Path(path_type=Path), help="What `conformance qualify --json` printed.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON; write it only with -o.")
def command(
    directories: tuple[Path, ...],
    directory: Path | None,
    expectations: Path | None,
    qualification: Path | None,
    as_json: bool,
) -> int:
    """Write the report on one or more runs: a page that works from disk, JSON, Markdown and JUnit XML."""
    if len({one.resolve() for one in directories}) < len(directories):
        raise click.UsageError("a run is given twice; a report has each of them once")
    if directory is None and len(directories) > 1 and not as_json:
        raise click.UsageError("a report on several runs needs a folder of its own: -o DIR")
    report = report_of(directories, expectations=expectations, qualification=qualification)
    if as_json:
        print(report_as_json(report), end="")
    if directory is not None or not as_json:
        beside = directories[0].parent if directories[0].is_file() else directories[0]
        with output(directory or beside) as folder:
            page = write_all(report, folder)[0]
        if not as_json:
            console = printer()
            for warning in report.warnings:
                console.print(f"warning: {warning}", markup=False)
            for backend in report.backends:
                console.print(f"{backend.label}: {backend.title}", markup=False)
            console.print(report.basis, markup=False)
            console.print(f"report: {page}", markup=False)
    for one in report.stale_explanations:
        causes = " or ".join(map(repr, one.causes))
        told = f"{expectations}: no finding of {', '.join(one.backends)} has the cause {causes} any more"
        click.echo(f"conformance: {told}; delete its explanation, or ask {one.owner} for another", err=True)
    return status_of(report) or (INCOMPLETE if report.stale_explanations else 0)
