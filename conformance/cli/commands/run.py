"""``conformance run``: judge backends, write the run log and the report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from conformance.cli.expectations import known_in
from conformance.cli.failed_cases import run_failed
from conformance.cli.names import names_option
from conformance.cli.opening import (
    CASE_LIMIT,
    DEFAULT,
    SANDBOX,
    STOP_AFTER,
    new_directory,
    opened,
    output,
    planned,
)
from conformance.cli.outcome import as_data, show
from conformance.cli.parameter_types import Duration, Written
from conformance.cli.progress import Progress, print_json, printer
from conformance.cli.reporting import report_on, restored
from conformance.report import run_of, write_all
from conformance.report.inputs.run import LOG
from conformance.report.verdict import status_of
from conformance.runner.explore import explore
from conformance.runner.log.lock import locked
from conformance.runner.plan import PROFILES
from conformance.runner.result import Result
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.workers import Worker

CHANGED: Final = 1
"""The exit status where somebody changed the log, whatever was judged."""


@click.command("run")
@names_option("-b", "--backend", "names", default=DEFAULT, show_default="opencl", help="Who is judged.")
@names_option("--suite", "suites", help="Only these suites [default: all].")
@names_option("--op", "ops", help="Only these operations.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="default", show_default=True, help="How much.")
@click.option("--examples", type=click.IntRange(1), help="Draws an operation [default: the profile's].")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same cases.")
@click.option("--time-budget", type=Duration(), help="Ask no new case after so long, starts included: 90, 90s, 10m.")
@CASE_LIMIT
@click.option(
    "--stop-after",
    type=click.IntRange(0),
    default=STOP_AFTER,
    show_default=True,
    help="Give up an operation after so many hangs or crashes; 0: never.",
)
@click.option("-o", "--output", "directory", type=Written(), help="Folder [default: runs/TIME].")
@click.option("--known", type=click.Path(path_type=Path), help="JSON: known failures; `conformance known` writes it.")
@click.option("--resume", is_flag=True, help="Go on with the run in the folder of -o, if there is one.")
@click.option("--failed", type=click.Path(path_type=Path), help="Run again what failed in the run in this folder.")
@click.option("--coverage", is_flag=True, help="Count which interactions of case features the cases show.")
@SANDBOX
@click.option("--in-process", is_flag=True, help="Without worker processes, for debugging: a crash ends the run.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(
    names: tuple[str, ...],
    suites: tuple[str, ...],
    ops: tuple[str, ...],
    profile: str,
    examples: int | None,
    seed: int,
    time_budget: float | None,
    case_limit: float,
    stop_after: int,
    directory: Path | None,
    known: Path | None,
    resume: bool,
    failed: Path | None,
    coverage: bool,
    sandbox: bool,
    in_process: bool,
    as_json: bool,
) -> int:
    """Judge backends and leave a report."""
    if failed is not None:
        _refuse_beside_failed()
        given = click.get_current_context().get_parameter_source("names") is not ParameterSource.DEFAULT
        return run_failed(
            failed,
            names if given else (),
            in_process=in_process,
            case_limit=case_limit,
            sandbox=sandbox,
            as_json=as_json,
        )
    if resume and directory is None:
        raise click.UsageError("--resume needs the folder of the run to go on with: -o DIR")
    expected = known_in(known, names) if known else ()
    plan = planned(
        ops,
        suites,
        profile=profile,
        examples=examples,
        seed=seed,
        time_budget=time_budget,
        case_limit=case_limit,
        sandbox=sandbox,
        stop_after=stop_after,
    )
    with output(directory or new_directory()) as folder, locked(folder):
        with (
            opened(
                names, in_process=in_process, case_limit=case_limit, time_budget=time_budget, sandbox=sandbox
            ) as workers,
            Progress(quiet=as_json) as progress,
        ):
            result = explore(
                plan,
                workers,
                folder,
                known=expected,
                resume=resume,
                coverage=coverage,
                watch=progress,
                searching=progress.search,
                drawing=progress.draw,
            )
        return _reported(folder, result, workers, as_json=as_json)


def _reported(folder: Path, result: Result, workers: Mapping[str, Judgeable], *, as_json: bool) -> int:
    """Write the report, print the outcome, and return the exit status.

    Both come out of the memory of this process. The log that was written is held against what it was to be.
    """
    untouched = restored(folder, result.records, result.digest)
    report = report_on(run_of(folder, result.records))
    page = write_all(report, folder)[0]
    if as_json:
        print_json({**as_data(result, report, folder, page), "log_changed": not untouched})
    else:
        console = printer()
        show(console, result, report, folder)
        if not untouched:
            console.print(
                f"{folder / LOG} was changed while the run went on; it was written again, and the run fails",
                markup=False,
            )
        for name, worker in workers.items():
            if isinstance(worker, Worker) and worker.disorder:
                console.print(f"{name}: its process {worker.disorder} when it was told to end", markup=False)
        console.print(f"report: {page}", markup=False)
    return status_of(report) if untouched else CHANGED


def _refuse_beside_failed() -> None:
    """Raise ``UsageError`` for an option that says what to draw or where to write: neither is done."""
    context = click.get_current_context()
    apart = (
        "suites",
        "ops",
        "profile",
        "examples",
        "seed",
        "time_budget",
        "stop_after",
        "directory",
        "known",
        "resume",
        "coverage",
    )
    for name in apart:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = next(one.opts[-1] for one in context.command.params if one.name == name)
            raise click.UsageError(f"--failed runs the stored cases of a run, so {option} means nothing beside it")
