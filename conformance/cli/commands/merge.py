"""``conformance merge``: the run that slices make together."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.expectations import known_in
from conformance.cli.names import checked, names_option
from conformance.cli.opening import known_here, new_directory, opened, output
from conformance.cli.parameter_types import WritablePath
from conformance.cli.progress import Progress
from conformance.cli.run_end import OUTPUTS, Outputs, outputs_of, refuse_foreign, reported
from conformance.runner.explore import join
from conformance.runner.log.lock import locked
from conformance.runner.log.storage import LOG, stored
from conformance.runner.slices.joining import join_slices


@click.command("merge")
@click.argument("slices", metavar="SLICE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@names_option("-b", "--backend", "given", default=(), help="The backends of the slices, where one is not installed.")
@click.option("-o", "--output", "directory", type=WritablePath(), help="Folder of the run  [default: runs/TIME]")
@click.option("--known", type=click.Path(path_type=Path), help="JSON: known failures, as for `conformance run`.")
@click.option("--in-process", is_flag=True, help="Look for smallest cases without worker processes, for debugging.")
@OUTPUTS
def command(
    slices: tuple[Path, ...],
    given: tuple[str, ...],
    directory: Path | None,
    known: Path | None,
    in_process: bool,
    **outputs: object,
) -> int:
    """Join the slices of one run, look for the smallest case of every way to fail, and leave its report.

    Every slice of the run must be there, once. The records are those that any other number of slices would give.
    """
    joined = join_slices(slices)
    names = [entry.name for entry in joined.header.backends]
    meant = checked("backend of these slices", given, names)
    known_here((name for name in names if name not in meant), slices[0])
    expected = known_in(known, names) if known else ()
    wanted: Outputs = outputs_of(outputs)
    with output(directory or new_directory()) as folder, locked(folder):
        refuse_foreign(folder)
        if (before := stored(folder / LOG)).exists():
            raise click.UsageError(f"{before} exists: choose another folder with -o")
        with (
            opened(names, in_process=in_process, case_limit=joined.plan.case_limit) as workers,
            Progress(quiet=wanted.as_json) as progress,
        ):
            result = join(joined, workers, folder, known=expected, watch=progress, searching=progress.search)
        return reported(folder, result, workers, wanted)
