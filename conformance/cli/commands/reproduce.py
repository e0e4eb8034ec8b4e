"""``conformance reproduce``: failing cases as scripts of the framework alone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from conformance.backends.discovery import find, load
from conformance.cases.whole_file import write_into
from conformance.cli.names import names_option
from conformance.cli.opening import CASE_LIMIT, known_here, opened
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, printer
from conformance.report.write import JSON
from conformance.reproduce.published import Told, findings_of, run_scripts, write_scripts
from conformance.reproduce.write import reproduction
from conformance.runner.dialects import load_case
from conformance.runner.replay import replay
from conformance.runner.worker.interface import Judgeable


@click.command("reproduce")
@click.argument("place", metavar="CASE|REPORT", type=click.Path(path_type=Path))
@names_option("-b", "--backend", "names", default=(), help="Whose failure it is; of a report, whose findings.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write it [default: print it].")
@click.option("--run", "again", is_flag=True, help="Run the scripts of REPORT; one whose bug is gone is an error.")
@CASE_LIMIT
def command(place: Path, names: tuple[str, ...], output: Path | None, again: bool, case_limit: float) -> int:
    """Show failures with the framework alone: print the script of CASE, or write those of all findings of REPORT.

    A script imports nothing of this suite and ends with 1 while the failure is there.
    """
    if place.is_dir() or (place.name == JSON and place.is_file()):
        return _report(place if place.is_dir() else place.parent, names, case_limit, again=again)
    if len(names) != 1 or again:
        raise click.UsageError("the script of a case is that of one backend: name it with -b, and leave out --run")
    if not place.is_file():
        raise Problem(f"no case file {place}; a run keeps its failing cases in the folder cases/ beside its log")
    case = load_case(place)
    with opened(names, in_process=False, case_limit=case_limit) as workers, Progress(quiet=True):
        shown = replay(case, workers[names[0]])
    text = reproduction(case, load(find(names[0])), shown)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_into(output, text.encode())
    return 0


def _report(folder: Path, names: tuple[str, ...], case_limit: float, *, again: bool) -> int:
    if not (folder / JSON).is_file():
        raise Problem(f"no {JSON} in {folder}; `conformance report` writes one")
    found = findings_of(folder, names)
    if again:
        shown = []
        for told, still in run_scripts(folder, found):
            _say(told)
            shown.append(still)
        if not shown:
            raise Problem(f"no scripts in {folder}; `conformance reproduce {folder}` writes them")
        return int(not all(shown))
    if not names:
        known_here((one.backend for one in found), folder / JSON)
    with ExitStack() as stack:
        workers: dict[str, Judgeable] = {}

        def worker_of(name: str) -> Judgeable:
            if name not in workers:
                workers.update(stack.enter_context(opened((name,), in_process=False, case_limit=case_limit)))
            return workers[name]

        for told in write_scripts(folder, found, worker_of):
            _say(told)
    return 0


def _say(told: Told) -> None:
    printer().print(f"{told[0]}: {told[1]}", markup=False)
