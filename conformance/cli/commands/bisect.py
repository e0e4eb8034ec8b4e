"""``conformance bisect``: the version of a package that makes a case come out otherwise."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from conformance.cli.opening import CASE_LIMIT
from conformance.cli.parameter_types import Written
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, print_json
from conformance.history.causes.facts import Facts
from conformance.history.changes import Change, Comparison
from conformance.history.differences import distribution
from conformance.history.outline import Outline, read_outline
from conformance.history.versions.bisection import Found, Tried, bisected
from conformance.history.versions.environments import Environments
from conformance.history.versions.ranges import range_of, versions_of
from conformance.history.versions.replays import replayed
from conformance.runner.dialects import save_case


@click.command("bisect")
@click.argument("case", metavar="[CASE]", required=False, type=click.Path(path_type=Path))
@click.option("--run", "directory", type=click.Path(path_type=Path), help="The run that has the case of --case.")
@click.option("--case", "name", help="The id of a case of that run.")
@click.option("-b", "--backend", required=True, help="Who is judged.")
@click.option("--package", "packages", multiple=True, required=True, metavar="NAME==A..B", help="Versions; repeatable.")
@click.option("--with", "further", multiple=True, metavar="REQUIREMENT", help="What every environment has too.")
@click.option("--environments", "folder", type=Written(), help="Where they are kept  [default: runs/environments]")
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
    ranges = {one.package: tuple(versions_of(one)) for one in map(range_of, packages)}
    with tempfile.TemporaryDirectory() as scratch, Progress(quiet=as_json) as progress:
        file, beside = _case(case, directory, name, backend, Path(scratch))
        pinned = [f"{each}=={version}" for each, version in beside.items() if not _moves(each, version, ranges)]
        environments = Environments(folder or Path("runs") / "environments", (*pinned, *further))

        def test(versions: Any) -> Tried:
            words = ", ".join(f"{each} {version}" for each, version in versions.items())
            progress.tell(f"installing {words}", now=True)
            python = environments.python(versions)
            found = replayed(python, file, backend, case_limit)
            progress.tell(f"{words}: {found.outcome}{f' ({found.why})' if found.why else ''}", now=True)
            return found

        found = bisected(ranges, test)
    if as_json:
        print_json(_data(found))
    else:
        for line in _lines(found):
            print(line)
    return 0


def _case(
    file: Path | None, directory: Path | None, name: str | None, backend: str, scratch: Path
) -> tuple[Path, dict[str, str]]:
    """Return the file of the case, and the packages that its run names for the backend."""
    if file is not None:
        if directory is not None or name is not None:
            raise click.UsageError("name a case file, or a case of a run by --run DIR --case ID, not both")
        if not file.is_file():
            raise Problem(f"no case file {file}; a run keeps its failing cases in the folder cases/ beside its log")
        return file.resolve(), {}
    if directory is None or name is None:
        raise click.UsageError("name a case file, or a case of a run by --run DIR --case ID")
    run = read_outline(directory)
    seen = run.seen.get((backend, name))
    if seen is None:
        raise Problem(f"{directory} has no record of {name!r:.200} of {backend}")
    change = Change("regressed", backend, name, None, seen)
    case = Facts(change, Comparison(run, run, (), {}), _today()).case
    if case is None:
        raise Problem(f"{name} is not stored beside the run, and the draw it came from makes another case now", 3)
    save_case(case, scratch / "case.json")
    return scratch / "case.json", _packages(run, backend)


def _today() -> Any:
    from datetime import UTC, datetime

    return datetime.now(UTC).date()


def _packages(run: Outline, backend: str) -> dict[str, str]:
    said = run.entries[backend].description.items()
    return {each: version for each, version in said if distribution(each)}


def _moves(package: str, version: str, ranges: dict[str, tuple[str, ...]]) -> bool:
    """Return whether a package is one of those tried, or goes with one: it has one of its end versions."""
    return any(package == name or version in (several[0], several[-1]) for name, several in ranges.items())


def _data(found: Found) -> dict[str, Any]:
    return {
        "steps": [step._asdict() for step in found.steps],
        "tried": [{"versions": dict(versions), **one._asdict()} for versions, one in found.tried],
    }


def _lines(found: Found) -> list[str]:
    lines = []
    for step in found.steps:
        untried = f"; not judged between them: {', '.join(step.untried)}" if step.untried else ""
        lines.append(f"{step.package} {step.first}: {step.after}; {step.package} {step.last}: {step.before}{untried}")
    lines.append(f"{len(found.tried)} environments tried")
    return lines
