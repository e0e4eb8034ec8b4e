"""``conformance run --failed``: what failed in an earlier run, asked again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from conformance.cli.names import checked
from conformance.cli.opening import known_here, opened
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, print_json, printer
from conformance.report import read_run
from conformance.report.failures.case_example import inside
from conformance.report.inputs.run import Run
from conformance.runner.dialects import load_case
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import Failure, SequenceFailure
from conformance.runner.replay import replay
from conformance.runner.worker.interface import Judgeable


def run_failed(
    directory: Path, names: Sequence[str], *, in_process: bool, case_limit: float, sandbox: bool, as_json: bool
) -> int:
    """Run the smallest case of every failure in a run again, and print what each comes to now.

    Sequences are run in order. ``names`` are the backends whose failures are run; where there are none they are all
    of the run, which must be installed ones. Return 0 when none breaks a *must* any more, 1 when one does, 3 when one
    could not be judged.
    """
    run = read_run(directory)
    judged = [entry.name for entry in run.header.backends]
    wanted = checked("backend of this run", names, judged) or tuple(judged)
    ways: tuple[Failure | SequenceFailure, ...] = (*run.failures, *run.sequences)
    found = [one for one in ways if one.backend in wanted]
    if not found:
        raise Problem(_nothing(run, wanted))
    told: list[dict[str, Any]] = []
    failing = tuple(dict.fromkeys(one.backend for one in found))
    if not names:
        known_here(failing, directory)
    with (
        opened(failing, in_process=in_process, case_limit=case_limit, sandbox=sandbox) as workers,
        Progress(quiet=as_json) as progress,
    ):
        for number, one in enumerate(found):
            progress.tell(f"{one.backend}: {_name(one)}, {number + 1} of {len(found)}")
            told.append(_again(one, run.directory, workers[one.backend]))
    if as_json:
        print_json({"run": str(directory), "failed": told})
    else:
        console = printer()
        for each in told:
            now = each["now"] if each["detail"] is None else f"{each['now']}: {each['detail']}"
            console.print(f"{each['backend']}: {each['case']} ({each['clause']}): {now}", markup=False)
        still = sum(each["now"] != "passes now" for each in told)
        ways_run = f"{len(told)} way{'s' * (len(told) != 1)} to fail run again"
        console.print(f"{ways_run}, {still} still fail{'s' * (still == 1)}", markup=False)
    return 1 if any(each["status"] == 1 for each in told) else 3 if any(each["status"] == 3 for each in told) else 0


def _nothing(run: Run, names: Sequence[str]) -> str:
    """Return why there is nothing to run again: no case failed, or none of those that did is stored."""
    where, who = run.directory, ", ".join(names)
    count = sum(record.outcome in FAILING and record.backend in names for record in run.records)
    if not count:
        return f"{where} has no failure of {who}; there is nothing to run again"
    return (
        f"{count} failing cases of {who} in {where} are not stored, since the run ended before it looked for smallest "
        f"ones; give the command of that run again with --resume -o {where}"
    )


def _name(one: Failure | SequenceFailure) -> str:
    return one.case if isinstance(one, Failure) else one.cases[-1]


def _inside(directory: Path, file: str) -> Path:
    """Return where a case file of a run is; raise ``Problem`` for one that is not in its folder."""
    found = inside(directory, file)
    if found is None:
        raise Problem(f"the log of {directory} names the case file {file!r:.200}, which is not inside the run")
    return found


def _again(one: Failure | SequenceFailure, directory: Path, worker: Judgeable) -> dict[str, Any]:
    """Return what a failure comes to now, as plain data."""
    files = (one.file,) if isinstance(one, Failure) else one.files
    try:
        *before, case = [load_case(_inside(directory, file)) for file in files]
    except FileNotFoundError as error:
        raise click.UsageError(
            f"{error.filename} is gone; a run keeps its failing cases in the folder cases/"
        ) from None
    found = replay(case, worker, before)
    worker.renew()
    blame = found.verdict.blame
    if found.verdict.outcome == "passed":
        now = "passes now"
    elif blame is not None and blame.id == one.clause and found.verdict.outcome == one.outcome:
        now = "fails as before"
    else:
        now = f"{found.verdict.outcome} now" + (f", {blame.id} is to blame" if blame is not None else "")
    return {
        "backend": one.backend,
        "case": _name(one),
        "clause": one.clause,
        "now": now,
        "detail": found.verdict.detail,
        "status": found.status,
    }
