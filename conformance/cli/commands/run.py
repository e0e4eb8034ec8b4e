"""``conformance run``: judge backends, write the run log and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from click.core import ParameterSource

from conformance.cli.cluster import cluster
from conformance.cli.expectations import known_in
from conformance.cli.failed_cases import run_failed
from conformance.cli.jobs import Slices, left_out, processes_here, run_slices, unfinished
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
from conformance.cli.parameter_types import Duration, Slice, WritablePath
from conformance.cli.progress import Progress
from conformance.cli.reporting import digest_of, restored
from conformance.cli.run_end import CHANGED, INCOMPLETE, OUTPUTS, Outputs, outputs_of, refuse_foreign, reported
from conformance.report.inputs.run import LOG
from conformance.runner.explore import explore, join
from conformance.runner.known.file import KnownCase
from conformance.runner.log.lock import locked
from conformance.runner.log.storage import stored
from conformance.runner.plan import PROFILES, Plan
from conformance.runner.result import Result
from conformance.runner.slices.joining import join_slices
from conformance.runner.worker.own_process import closed


@click.command("run")
@names_option("-b", "--backend", "names", default=DEFAULT, show_default="opencl", help="Who is judged.")
@names_option("--suite", "suites", help="Only these suites [default: all].")
@names_option("--op", "ops", help="Only these operations.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="default", show_default=True, help="How much.")
@click.option("--examples", type=click.IntRange(1), help="Draws an operation [default: the profile's].")
@click.option("--repeat", "times", type=click.IntRange(1, 100), help="Ask the same cases so many times.")
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
@click.option("-o", "--output", "directory", type=WritablePath(), help="Folder [default: runs/TIME].")
@click.option("--known", type=click.Path(path_type=Path), help="JSON: known failures; `conformance known` writes it.")
@click.option("--resume", is_flag=True, help="Go on with the run in the folder of -o, if there is one.")
@click.option("--failed", type=click.Path(path_type=Path), help="Run again what failed in the run in this folder.")
@click.option("--coverage", is_flag=True, help="Count which interactions of case features the cases show.")
@SANDBOX
@click.option("--slice", "part", type=Slice(), help="Judge part K of N alone; `conformance merge` joins them.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Judge so many slices at once, and join them.")
@click.option("--scheduler", metavar="ADDRESS", help="Judge slices on the Dask cluster there, and join them.")
@click.option("--timings", is_flag=True, help="Print where the seconds of each backend went.")
@click.option("--in-process", is_flag=True, help="Without worker processes, for debugging: a crash ends the run.")
@OUTPUTS
def command(
    names: tuple[str, ...],
    suites: tuple[str, ...],
    ops: tuple[str, ...],
    profile: str,
    examples: int | None,
    times: int | None,
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
    part: tuple[int, int] | None,
    jobs: int | None,
    scheduler: str | None,
    timings: bool,
    in_process: bool,
    as_json: bool,
    against: Path | None,
) -> int:
    """Judge backends and leave a report."""
    wanted = outputs_of({"as_json": as_json, "against": against, "timings": timings})
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
    _refuse_beside_slices(part, jobs, scheduler)
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
        stop_after=stop_after if part is None and jobs is None and scheduler is None else 0,
        part=part,
        decked=True,
        times=times,
    )
    if jobs is not None or scheduler is not None:
        judges = _Asked(jobs, scheduler)
        return _in_slices(plan, names, directory or new_directory(), judges, expected, wanted, resume=resume)
    with output(directory or new_directory()) as folder, locked(folder):
        refuse_foreign(folder)
        with (
            opened(
                names, in_process=in_process, case_limit=case_limit, time_budget=plan.time_budget, sandbox=sandbox
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
        return _sliced(folder, result, part) if part else reported(folder, result, workers, wanted)


def _sliced(folder: Path, result: Result, part: tuple[int, int]) -> int:
    """Say what a slice came to; whether anything fails is for the whole run to say."""
    if not restored(folder, result.records, result.digest, result.length):
        return CHANGED
    counts = ", ".join(f"{sum(said.values())} cases of {name}" for name, said in result.counts.items()) or "no case"
    print(f"slice {part[0]} of {part[1]}: {counts}; `conformance merge` joins it with the others: {folder}")
    return INCOMPLETE if result.owed else 0


class _Asked(NamedTuple):
    """Who is to judge slices: so many ``jobs`` here, or the workers of a ``scheduler``."""

    jobs: int | None
    scheduler: str | None

    def judged(
        self, plan: Plan, names: Sequence[str], folder: Path, *, resume: bool, tell: Callable[[str], None]
    ) -> Slices:
        if self.scheduler is None:
            jobs = self.jobs or 1
            with processes_here(jobs) as here:
                return run_slices(plan, names, folder, here, jobs, resume=resume, tell=tell)
        with cluster(self.scheduler) as workers:
            return run_slices(plan, names, folder, workers, workers.width(), resume=resume, tell=tell)


def _in_slices(
    plan: Plan,
    names: Sequence[str],
    directory: Path,
    judges: _Asked,
    known: Sequence[KnownCase],
    wanted: Outputs,
    *,
    resume: bool,
) -> int:
    """Judge in many processes, and join what they leave."""
    with output(directory) as folder, locked(folder), Progress(quiet=wanted.as_json) as progress:
        refuse_foreign(folder)
        before = stored(folder / LOG)
        if before.exists() and not (resume and unfinished(folder)):
            raise click.UsageError(f"{before} exists: choose another folder with -o")
        with closed():
            slices = judges.judged(plan, names, folder, resume=resume, tell=progress.tell)
        if before.exists() and not slices.judged:
            raise click.UsageError(f"{before} has all that its slices can say: choose another folder with -o")
        before.unlink(missing_ok=True)  # it lacks slices that are there now
        with opened(names, case_limit=plan.case_limit, sandbox=plan.sandbox) as workers:
            handed = {each: one for each, one in slices.handed.items() if one is not None}
            lost = left_out(slices, plan, workers, folder)
            joined = join_slices([*slices.handed, *lost], {**handed, **lost})
            result = join(joined, workers, folder, known=known, watch=progress, searching=progress.search)
        changed = [each / LOG for each, one in handed.items() if digest_of(each / LOG, one.length) != one.digest]
        return reported(folder, result, workers, wanted, changed)


def _refuse_beside_slices(part: tuple[int, int] | None, jobs: int | None, scheduler: str | None) -> None:
    """Raise ``UsageError`` for what a part of a run cannot do: a slice is judged whole, and the same whoever does."""
    asked = {"--slice": part, "--jobs": jobs, "--scheduler": scheduler}
    given = [option for option, value in asked.items() if value is not None]
    if not given:
        return
    if len(given) > 1:
        raise click.UsageError("--slice is one part, --jobs and --scheduler judge all of them; give one of the three")
    apart = ["times", "time_budget", "stop_after", "coverage", "failed", "timings"]
    apart += ["known", "resume", "against"] if part else ["in_process"]
    word = given[0]
    _refuse(
        apart, lambda option: f"{option} means nothing beside {word}: its cases are the same wherever they are judged"
    )


def _refuse_beside_failed() -> None:
    """Raise ``UsageError`` for an option that says what to draw or where to write: neither is done."""
    apart = (
        "suites",
        "ops",
        "profile",
        "examples",
        "times",
        "seed",
        "time_budget",
        "stop_after",
        "directory",
        "known",
        "resume",
        "coverage",
        "part",
        "jobs",
        "scheduler",
        "timings",
        "against",
    )
    _refuse(apart, lambda option: f"--failed runs the stored cases of a run, so {option} means nothing beside it")


def _refuse(names: Sequence[str], told: Callable[[str], str]) -> None:
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = next(one.opts[-1] for one in context.command.params if one.name == name)
            raise click.UsageError(told(option))
