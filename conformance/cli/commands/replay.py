"""``conformance replay``: one case on one backend, and everything there is to see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from conformance.cases.escapes import printable
from conformance.cases.observation import Observation
from conformance.cases.schedule.codec import text as schedule_text
from conformance.cases.tensor.tensor import to_array
from conformance.cli.names import names_option
from conformance.cli.opening import CASE_LIMIT, DEFAULT, SANDBOX, opened
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, print_json, printer
from conformance.report.failures.case_example import example
from conformance.report.failures.example import Block, Example, NamedValue
from conformance.report.failures.values import written
from conformance.report.inputs.case_origin import origins_of
from conformance.runner.dialects import load_case, name_of
from conformance.runner.replay import Replay, replay


@click.command("replay")
@click.argument("files", metavar="CASE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@names_option("-b", "--backend", "names", default=DEFAULT, show_default="opencl", help="Who is judged.")
@CASE_LIMIT
@SANDBOX
@click.option("--in-process", is_flag=True, help="Without a worker process, for debugging.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    files: tuple[Path, ...],
    names: tuple[str, ...],
    case_limit: float,
    sandbox: bool,
    in_process: bool,
    as_json: bool,
) -> int:
    """Run the case file CASE again: program, inputs, expected, observed, and the verdict clause by clause.

    Of several case files all are run in order in one process, and the last one is shown.
    """
    for file in files:
        if not file.is_file():
            raise Problem(f"no case file {file}; a run keeps its failing cases in the folder cases/ beside its log")
    *before, case = map(load_case, files)
    shown, origins = example(case), origins_of(files[-1], name_of(case))
    with (
        opened(names, in_process=in_process, case_limit=case_limit, sandbox=sandbox) as workers,
        Progress(quiet=as_json),
    ):
        found = {name: replay(case, worker, before) for name, worker in workers.items()}
    if as_json:
        data = {
            "case": name_of(case),
            "origins": origins,
            **_case_data(shown),
            "backends": {n: as_data(r) for n, r in found.items()},
        }
        print_json(data)
    else:
        console = printer()
        console.print(name_of(case), markup=False)
        for name, origin in origins.items():
            console.print(f"of {name} from {origin}", markup=False)
        _show_case(console, shown)
        for name, one in found.items():
            _show_replay(console, name, one)
    statuses = {one.status for one in found.values()}
    return 1 if 1 in statuses else max(statuses)


def as_data(one: Replay) -> dict[str, Any]:
    """Return a replay as plain data."""
    judged, seen = one.verdict, one.observation
    return {
        "outcome": judged.outcome,
        "blame": judged.blame.id if judged.blame else None,
        "detail": judged.detail,
        "note": one.answer.note if one.answer else None,
        "clauses": judged.clauses,
        "observed": msgspec.to_builtins(observed(seen)) if seen else [],
        "errors": list(seen.errors) if seen else [],
        "touched": list(seen.touched) if seen else [],
        "health": _health_data(seen.health) if seen else None,
        "schedules": [msgspec.to_builtins(made) for made in one.schedules],
        "stderr": one.stderr,
        "status": one.status,
    }


def _health_data(health: Observation | None) -> dict[str, Any] | None:
    if health is None:
        return None
    return {"observed": msgspec.to_builtins(observed(health)), "errors": list(health.errors)}


def observed(seen: Observation) -> tuple[NamedValue, ...]:
    """Return the results that came back, rank by rank."""
    return tuple(
        NamedValue(
            name=name,
            blocks=tuple(
                Block(ranks=str(rank), dtype=block.dtype, shape=block.shape, layout="", values=written(to_array(block)))
                for rank, block in enumerate(blocks)
                if block is not None
            ),
        )
        for name, blocks in seen.results.items()
    )


def _case_data(shown: Example) -> dict[str, Any]:
    kept = ("mesh", "world", "steps", "inputs", "expected", "rejection")
    return {name: msgspec.to_builtins(getattr(shown, name)) for name in kept}


def _show_case(console: Console, shown: Example) -> None:
    console.print(f"mesh {shown.mesh}", markup=False)
    for step in shown.steps:
        console.print(f"    {step}", markup=False)
    console.print("inputs")
    _show_values(console, shown.inputs)
    console.print("expected")
    _show_values(console, shown.expected)
    for line in (shown.rejection and f"rejected by {shown.rejection}", shown.problem):
        if line:
            console.print(f"    {line}", markup=False)


def _show_observed(console: Console, seen: Observation) -> None:
    _show_values(console, observed(seen))
    for rank, error in enumerate(seen.errors):
        if error is not None:
            console.print(
                f"    rank {rank} raised {error.kind} ({error.category}): {readable(error.message)}", markup=False
            )


def _show_replay(console: Console, name: str, one: Replay) -> None:
    console.print(f"observed of {name}", markup=False)
    seen, judged = one.observation, one.verdict
    if seen is not None:
        _show_observed(console, seen)
        for touch in seen.touched:
            where = f"storage of {touch.input} on rank {touch.rank}, element {touch.index}"
            console.print(f"    {where}: was {touch.before}, is {touch.after}", markup=False)
        for number, made in enumerate(one.schedules):
            console.print(f"schedule {number + 1} of {len(one.schedules)}", markup=False)
            console.print(schedule_text(made).rstrip(), markup=False)
        if seen.health is not None:
            console.print("afterwards, of the health program")
            _show_observed(console, seen.health)
    told = f": {readable(judged.detail)}" if judged.detail else ""
    console.print(f"verdict: {judged.outcome}{told}", markup=False)
    for note in (one.answer.note if one.answer else None, one.stderr):
        if note:
            console.print(f"    {readable(note)}", markup=False)
    for clause, held in judged.clauses.items():
        blamed = "  <- to blame" if judged.blame is not None and judged.blame.id == clause else ""
        text, requirement = one.clauses[clause].text, one.clauses[clause].requirement
        console.print(f"    {held:<9}{clause:<20}{requirement:<7}{text}{blamed}", markup=False)


def readable(text: str) -> str:
    """Return what a backend wrote, line by line, without characters that a terminal would obey."""
    return "\n".join(map(printable, text.splitlines()))


def _show_values(console: Console, values: tuple[NamedValue, ...]) -> None:
    for value in values:
        for block in value.blocks:
            layout = f" {block.layout}" if block.layout not in ("", "contiguous") else ""
            kind = f"{block.dtype}{list(block.shape)}{layout}"
            console.print(f"    {value.name} on {block.ranks}: {kind} {block.values}", markup=False)
