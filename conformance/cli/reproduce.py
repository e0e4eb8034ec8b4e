"""``conformance reproduce``: a failing case as a script of the framework alone."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.backends.discovery import find, load
from conformance.cases.codec import load as load_case
from conformance.cli.opening import CASE_LIMIT, opened
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress
from conformance.reproduce.write import reproduction
from conformance.runner.replay import replay


@click.command("reproduce")
@click.argument("file", metavar="CASE", type=click.Path(path_type=Path))
@click.option("-b", "--backend", "name", required=True, metavar="NAME", help="Whose failure it is.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write the script [default: print it].")
@CASE_LIMIT
def command(file: Path, name: str, output: Path | None, case_limit: float) -> int:
    """Print a script that shows a failure with the framework of NAME alone; it ends with 1 while that is so."""
    if not file.is_file():
        raise Problem(f"no case file {file}; a run keeps its failing cases in the folder cases/ beside its log")
    case = load_case(file)
    with opened((name,), in_process=False, case_limit=case_limit) as workers, Progress(quiet=True):
        shown = replay(case, workers[name])
    text = reproduction(case, load(find(name)), shown)
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
    return 0
