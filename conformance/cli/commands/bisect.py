"""``conformance bisect``: the version of a package that makes a case come out otherwise."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from conformance.cli.opening import CASE_LIMIT
from conformance.cli.parameter_types import WritablePath
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, print_json
from conformance.cli.version_trials import ENVIRONMENTS, version_trials
from conformance.history.causes.facts import Facts
from conformance.history.causes.of_versions import lines_of, pinned
from conformance.history.changes import Change, Comparison
from conformance.history.outline import Outline
from conformance.history.reading import read_outline
from conformance.history.versions.bisection import Bisection, bisected
from conformance.history.versions.ranges import range_of, versions_of
from conformance.runner.dialects import load_case, save_case


@click.command("bisect")
@click.argument("case", metavar="[CASE]", required=False, type=click.Path(path_type=Path))
@click.option("--run", "directory", type=click.Path(path_type=Path), help="The run that has the case of --case.")
@click.option("--case", "name", help="The id of a case of that run.")
@click.option("-b", "--backend", required=True, help="Who is judged.")
@click.option("--package", "packages", multiple=True, required=True, metavar="NAME==A..B", help="Versions; repeatable.")
@click.option("--with", "further", multiple=True, metavar="REQUIREMENT", help="What every environment has too.")
@click.option("--environments", "folder", type=WritablePath(), help="Where they are kept  [default: runs/environments]")
@CASE_LIMIT
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    case: Path | None,
    directory: Path | None,
    name: str | None,
    backend: str,
    packages: tuple[str, ...],
    further: tuple[str, ...],
    folder: Path | None,
    case_limit: float,
    as_json: bool,
) -> int:
    """Run a case with versions of packages, each in an environment of its own, and halve the range where it turns.

    Of several packages the fewest are found first whose versions together make the difference. What does not install,
    and what the adapter fails on by itself, is skipped and told. With --run what else the backend named as its packages
    is installed at the version of that run.
    """
    wanted = [range_of(each) for each in packages]
    with tempfile.TemporaryDirectory() as scratch, Progress(quiet=as_json) as progress:
        file, beside = _case(case, directory, name, backend, Path(scratch))
        ranges = {one.package: tuple(versions_of(one)) for one in wanted}
        kept = [] if beside is None else pinned(beside, backend, ranges)
        trial = version_trials(folder or ENVIRONMENTS, further, case_limit, progress)
        found = bisected(ranges, lambda versions: trial(versions, kept, file, backend))
    if as_json:
        print_json(_data(found))
    else:
        for line in lines_of(found):
            print(line)
    return 0


def _case(
    file: Path | None, directory: Path | None, name: str | None, backend: str, scratch: Path
) -> tuple[Path, Outline | None]:
    """Return the file of the case, and the run it is of where one was named."""
    if file is not None:
        if directory is not None or name is not None:
            raise click.UsageError("name a case file, or a case of a run by --run DIR --case ID, not both")
        if not file.is_file():
            raise Problem(f"no case file {file}; a run keeps its failing cases in the folder cases/ beside its log")
        load_case(file)  # what is no case here is none in any environment, and each takes minutes
        return file.resolve(), None
    if directory is None or name is None:
        raise click.UsageError("name a case file, or a case of a run by --run DIR --case ID")
    run = read_outline(directory)
    seen = run.seen.get((backend, name))
    if seen is None:
        raise Problem(f"{directory} has no record of {name!r:.200} of {backend}")
    change = Change("regressed", backend, name, None, seen)
    case = Facts(change, Comparison(run, run, (), {}, {}), _today()).case
    if case is None:
        raise Problem(f"{name} is not stored beside the run, and the draw it came from makes another case now", 3)
    save_case(case, scratch / "case.json")
    return scratch / "case.json", run


def _today() -> Any:
    from datetime import UTC, datetime

    return datetime.now(UTC).date()


def _data(found: Bisection) -> dict[str, Any]:
    return {
        "steps": [step._asdict() for step in found.steps],
        "tried": [{"versions": dict(versions), **one._asdict()} for versions, one in found.tried],
    }
