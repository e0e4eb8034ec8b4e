"""``conformance bench overlap``: how well communication hides behind computation in steps of training."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from conformance.bench.collectives.driver import PeerError
from conformance.bench.overlap.rounds import PEERS, Measured, measure
from conformance.bench.overlap.steps import STEPS, Step
from conformance.cli.commands.bench import not_installed, present
from conformance.cli.names import checked, names_option
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, print_json, printer

COLUMNS = ("peer", "step", "time (us)", "least (us)", "x bound", "ahead", "#wrong")


@click.command("overlap")
@names_option("-b", "--backend", "names", help="Who is timed; all here by default.")
@names_option("--steps", default=tuple(STEPS), show_default=", ".join(STEPS), help="Which steps.")
@click.option("--ranks", type=int, default=4, show_default=True, help="How many ranks there are, 2 at least.")
@click.option("--layers", type=click.IntRange(1), default=8, show_default=True, help="How many layers there are.")
@click.option("--rows", type=click.IntRange(1), default=64, show_default=True, help="Rows of data a rank.")
@click.option("--width", type=click.IntRange(1), default=128, show_default=True, help="Rows and columns of weights.")
@click.option("--repeats", type=click.IntRange(1), default=9, show_default=True, help="Rounds; each times everybody.")
@click.option(
    "--timelines",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write when each item of opencl ran, a file STEP.json for Perfetto or chrome://tracing, into this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    names: tuple[str, ...],
    steps: tuple[str, ...],
    ranks: int,
    layers: int,
    rows: int,
    width: int,
    repeats: int,
    timelines: Path | None,
    as_json: bool,
) -> int:
    """Time steps of training: gradients averaged under a backward pass, weights gathered ahead, rows of gradients.

    opencl-off is the native engine without all that it does to communication. x bound: the time as a multiple of the
    greatest of three that it needs alone: computation, communication, and what both keep all cores busy with, shared
    out over them. ahead: how many times as long the fastest other system takes. Results are checked against NumPy.
    """
    asked = checked("peer", names or tuple(PEERS), PEERS)
    chosen, absent = present(asked, lambda name: not_installed(name.partition("-")[0]), named=bool(names))
    try:
        wanted = [
            Step(name=name, ranks=ranks, layers=layers, rows=rows, width=width)
            for name in checked("step", steps, STEPS)
        ]
    except ValueError as error:
        raise Problem(str(error)) from error
    with Progress(quiet=as_json) as progress:
        try:
            found = measure(chosen, wanted, repeats, progress.tell, timelines=timelines is not None)
        except PeerError as error:
            raise Problem(str(error), 3) from error
    if timelines is not None:
        timelines.mkdir(parents=True, exist_ok=True)
        for name, trace in found.timelines.items():
            (timelines / f"{name}.json").write_bytes(msgspec.json.encode(trace))
    if as_json:
        told = msgspec.to_builtins(msgspec.structs.replace(found, timelines={}))
        print_json({**told, "absent": absent})
    else:
        _show(found, absent)
    return int(any(row.wrong for row in found.rows))


def _show(found: Measured, absent: dict[str, str]) -> None:
    console = printer()
    table = Table(*COLUMNS)
    for row in found.rows:
        if row.error:
            table.add_row(escape(row.peer), row.step, "error", "", "", "", "")
            continue
        ratios = ("" if each is None else f"{each:.2f}" for each in (row.bound, row.ahead))
        table.add_row(escape(row.peer), row.step, f"{row.time_us:.0f}", f"{row.least_us:.0f}", *ratios, str(row.wrong))
    console.print(table)
    for row in found.rows:
        if row.error:
            console.print(escape(f"{row.peer}, {row.step}: {row.error}"))
    for each in found.bounds:
        console.print(
            f"{each.step}: computation alone {each.computation_us:.0f} us, communication alone "
            f"{each.communication_us:.0f} us, all cores shared out {each.cores_us:.0f} us"
        )
    console.print(f"{found.ranks} ranks")
    for name, said in found.peers.items():
        console.print(escape(f"{name}: " + ", ".join(f"{key} {value}" for key, value in said.items())))
    for name, how in absent.items():
        console.print(escape(f"{name}: absent ({how})"))
