"""``conformance draw``: a drawn case again, from its seed and number or from the record that names it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from conformance.cli.names import checked, names_option
from conformance.cli.parameter_types import WritablePath
from conformance.cli.problems import Problem
from conformance.report import read_run
from conformance.report.inputs.run import Run
from conformance.runner.dialects import name_of, save_case, suites
from conformance.runner.drawn_again import drawn_again
from conformance.runner.records.origin import Origin, origin_of
from conformance.runner.records.record import CaseRecord, case_file


@click.command("draw")
@click.argument("seed", metavar="SEED", type=click.IntRange(0), required=False)
@click.argument("number", metavar="NUMBER", type=click.IntRange(0), required=False)
@click.argument("suite", metavar="SUITE", required=False)
@names_option("--op", "ops", help="Of these operations [default: all of the suite].")
@click.option("--run", "directory", type=click.Path(path_type=Path), help="The run whose case is drawn, with --case.")
@click.option("--case", "name", help="The id of a case of that run, or its last digits.")
@click.option("-b", "--backend", help="Whose record of it, where several were judged.")
@click.option(
    "-o", "--output", "folder", type=WritablePath(), help="Write the case files here [default: print one case]."
)
def command(
    seed: int | None,
    number: int | None,
    suite: str | None,
    ops: tuple[str, ...],
    directory: Path | None,
    name: str | None,
    backend: str | None,
    folder: Path | None,
) -> int:
    """Draw case NUMBER of SUITE of the seed SEED again, for each operation, or the case that a record names."""
    if directory is not None:
        if name is None or seed is not None:
            raise click.UsageError("with --run a case is named by --case ID, and neither seed nor number is given")
        cases = [_recorded(read_run(directory), name, backend)]
    else:
        if seed is None or number is None or suite is None:
            raise click.UsageError("name a draw by SEED NUMBER SUITE, or a case of a run by --run DIR --case ID")
        checked("suite", [suite], suites())
        wanted = checked("operation of this suite", ops, suites()[suite].domains) or tuple(suites()[suite].domains)
        cases = [drawn_again(Origin(suite, op, seed, number)) for op in wanted]
    if folder is None and len(cases) > 1:
        raise click.UsageError(f"{suite} draws for {len(cases)} operations; choose with --op, or a folder with -o")
    if folder is None:
        print(_text(cases[0]), end="")
        return 0
    for case in cases:
        path = folder / Path(case_file(name_of(case))).name
        path.parent.mkdir(parents=True, exist_ok=True)
        save_case(case, path)
        print(path)
    return 0


def _recorded(run: Run, name: str, backend: str | None) -> Any:
    """Return the case of a record of ``run``; raise ``Problem`` where none has it, or it comes out as another one."""
    found = [
        record
        for record in run.records
        if (record.case == name or record.case.endswith(name)) and backend in {None, record.backend}
    ]
    if not found:
        raise Problem(f"{run.directory} has no record of a case {name!r:.200}{f' of {backend}' if backend else ''}")
    if len({record.case for record in found}) > 1:
        raise Problem(f"{len({record.case for record in found})} cases of {run.directory} end in {name!r:.80}")
    record = found[0]
    case = drawn_again(_origin(record, run), _claims(record, run))
    if name_of(case) != record.case:
        raise Problem(
            f"{record.origin} is {name_of(case)} with this specification, and was {record.case} when the run drew it; "
            f"draw it with the sources whose digest is {run.header.spec_digest[:12]}",
            3,
        )
    return case


def _origin(record: CaseRecord, run: Run) -> Origin:
    origin = origin_of(record.origin or "")
    if origin is None:
        stored = case_file(record.case)
        there = f"; it is stored in {run.directory / stored}" if (run.directory / stored).is_file() else ""
        raise Problem(f"the record of {record.case} names no draw: it is older than origins, or was not drawn{there}")
    return origin


def _claims(record: CaseRecord, run: Run) -> dict[str, dict[str, list[str]]]:
    return next((entry.claims for entry in run.header.backends if entry.name == record.backend), {})


def _text(case: object) -> str:
    """Return the case file as text; what is too large for one file raises ``Problem``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.json")
        save_case(case, path)
        if len(list(Path(folder).iterdir())) > 1:
            raise Problem(f"{name_of(case)} has tensors of their own file; name a folder with -o")
        return path.read_text()
