"""``conformance known``: from the failures of a run to a file of known failures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import click

from conformance.cli.names import checked, names_option
from conformance.cli.parameter_types import WritablePath
from conformance.cli.problems import Problem
from conformance.cli.progress import print_json, printer
from conformance.report import Run, read_run
from conformance.runner.dialects import further_clauses, load_case
from conformance.runner.known.file import KnownError, entry_of, read_known, write_known
from conformance.runner.records.known import Known
from conformance.runner.records.record import Failure, case_file
from conformance.specs import every_clause


@click.command("known")
@click.argument("directory", metavar="RUN", type=click.Path(path_type=Path))
@click.option("-o", "--output", "path", type=WritablePath(), required=True, help="File to write or add to.")
@click.option("--issue", required=True, help="Address under which the failures are followed up.")
@click.option("--owner", required=True, help="Who answers for them.")
@click.option("--expiry", metavar="YYYY-MM-DD", required=True, help="Last day on which they are expected.")
@names_option("-b", "--backend", "names", help="Only failures of these backends.")
@names_option("--clause", "clauses", help="Only these clauses [default: every must].")
@click.option("--json", "as_json", is_flag=True, help="Print the entries as JSON.")
def command(
    directory: Path,
    path: Path,
    issue: str,
    owner: str,
    expiry: str,
    names: tuple[str, ...],
    clauses: tuple[str, ...],
    as_json: bool,
) -> int:
    """Write the failures of RUN that are new into a file for `conformance run --known`, their cases beside it.

    What is in the file already stays; with --clause each group of failures gets the issue of its own.
    """
    run = read_run(directory)
    if _over(expiry):
        raise click.UsageError(f"--expiry {expiry} is over: the entries would fail every run; give a day to come")
    wanted = checked("clause", clauses, (*every_clause(), *further_clauses()))
    judged = [entry.name for entry in run.header.backends]
    backends = checked("backend of this run", names, judged) or tuple(judged)
    earlier = read_known(path, judged) if path.exists() else ()
    there = {(one.entry.case, one.entry.backend) for one in earlier}
    chosen = _chosen(run, backends, wanted)
    if not chosen:
        told = f"of {', '.join(wanted)}" if wanted else "of a must clause; name others with --clause"
        cut = f" ({run.why_incomplete})" if run.why_incomplete else ""
        raise Problem(f"{directory} has no new failure {told}{cut}")
    followed = {"issue": issue, "owner": owner, "expiry": expiry}
    entries = _entries((one for one in chosen if (one[0], one[1].backend) not in there), followed)
    cases = [load_case(run.directory / case_file(entry.case)) for entry in entries]
    write_known(path, [*(one.entry for one in earlier), *entries], cases)
    if as_json:
        print_json(entries)
    else:
        _show(entries, f"{len(entries)} new and {len(earlier)} earlier known failures: {path}")
    return 0


def _chosen(run: Run, backends: Collection[str], wanted: Collection[str]) -> list[tuple[str, Failure]]:
    """Return the new failures of these backends and clauses, or of every *must*, each with every case it stands for."""
    return [
        (case, failure)
        for failure in run.failures
        if failure.known is None and failure.backend in backends
        if (failure.clause in wanted if wanted else failure.requirement == "must")
        for case in (failure.case, *failure.alike)
    ]


def _entries(chosen: Iterable[tuple[str, Failure]], followed: Mapping[str, str]) -> list[Known]:
    """Return the entries of failures; raise ``UsageError`` where how they are ``followed`` up is said wrongly."""
    try:
        return [
            entry_of(
                {
                    "case": case,
                    "backend": failure.backend,
                    "clause": failure.clause,
                    "outcome": failure.outcome,
                    **followed,
                }
            )
            for case, failure in chosen
        ]
    except KnownError as error:
        raise click.UsageError(str(error)) from None


def _show(entries: Iterable[Known], told: str) -> None:
    console = printer()
    for entry in entries:
        console.print(f"{entry.backend}: {entry.clause} ({entry.outcome}): {entry.case}", markup=False)
    console.print(told, markup=False)


def _over(expiry: str) -> bool:
    """Return whether a day is over (UTC); whether it is one at all is for the entries to say."""
    try:
        return date.fromisoformat(expiry) < datetime.now(UTC).date()
    except ValueError:
        return False
