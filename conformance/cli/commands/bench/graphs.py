"""``conformance bench graphs``: how fast graphs are, and how many kernels they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from conformance.backends.base import Backend
from conformance.backends.discovery import find, load
from conformance.bench.graphs.competitors import COMPETING
from conformance.bench.graphs.counts import Counted, counted
from conformance.bench.graphs.timed_graphs import GRAPH_BY_NAME, SIZES, TIMED
from conformance.bench.graphs.timings import Timing, Timings, standing, timings
from conformance.cli.commands.bench import not_installed, present
from conformance.cli.names import names_option
from conformance.cli.progress import print_json, printer


@click.command("graphs")
@names_option(
    "-b",
    "--backend",
    "names",
    default=("opencl",),
    help="Whose kernels are counted, or who is timed.",
    show_default="opencl",
)
@click.option("--counts", is_flag=True, help="Count the kernels of each row.")
@click.option("--size", "sizes", multiple=True, type=click.Choice(SIZES), help="Only this size; may be given again.")
@click.option(
    "--graph",
    "graphs",
    multiple=True,
    type=click.Choice(sorted(GRAPH_BY_NAME)),
    help="Only this graph; may be given again.",
)
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1), help="Turns of each competitor.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    names: tuple[str, ...],
    counts: bool,
    sizes: tuple[str, ...],
    graphs: tuple[str, ...],
    rounds: int,
    as_json: bool,
) -> None:
    """Time graphs on several competitors in turn, or count the kernels that backends make of graphs.

    Competitors are opencl, numpy, jax, torch, torch-compile and tinygrad; a copy of the bytes that must be moved, one
    thread a core, is always timed beside them. Every result is compared with NumPy's in float64, and one that is wrong
    has no time. Ahead is how many times as long the fastest other one takes.

    The columns 2025-01 and 2026-08 of the counts are what tinygrad's own tests expected of it then. The last lines say
    how many rows have more kernels than the larger of the two, and how many have no more than the smaller.
    """
    if not counts:
        _timed(names, sizes, graphs, rounds, as_json=as_json)
        return
    if sizes or graphs:
        raise click.UsageError("--size and --graph choose what is timed; --counts counts every row")
    backends: list[tuple[str, Backend]] = [(name, load(find(name))) for name in names]
    found = counted(backends)
    for _, backend in backends:
        backend.close()
    if as_json:
        print_json({"rows": msgspec.to_builtins(found), "summary": _summary(found, names)})
    else:
        _show(found, names)


def _timed(
    names: tuple[str, ...], sizes: tuple[str, ...], graphs: tuple[str, ...], rounds: int, *, as_json: bool
) -> None:
    unknown = [name for name in names if name not in COMPETING]
    if unknown:
        raise click.UsageError(f"nobody times {', '.join(unknown)}; known are {', '.join(COMPETING)}")
    present(names, not_installed, named=True)
    chosen = [GRAPH_BY_NAME[name] for name in graphs] or TIMED
    found = timings(names, chosen, sizes or SIZES, rounds, lambda line: click.echo(line, err=True))
    if as_json:
        print_json(msgspec.to_builtins(found) | {"standing": {name: standing(found.rows, name) for name in names}})
        return
    show_timings(found, names)


def show_timings(found: Timings, names: Sequence[str]) -> None:
    """Print timings as a table, and who is fastest on how many graphs."""
    console = printer()
    table = Table("graph", "size", "who", "median us", "least us", "of a copy", "ahead")
    for row in found.rows:
        table.add_row(row.graph, row.size, row.name, *_numbers(row))
    console.print(table)
    for name in names:
        for size, each in standing(found.rows, name).items():
            console.print(
                f"{name}, {size}: fastest on {each['fastest']} of {each['graphs']} graphs, geometric mean ahead of the "
                f"fastest other {each['mean']:.2f}"
            )
    console.print(f"load of the machine: {found.load[0]:.1f} before, {found.load[1]:.1f} after")


def _numbers(row: Timing) -> tuple[str, ...]:
    if row.error:
        return (escape(row.error), "", "", "")
    shown = f"{row.median_us:.0f}", f"{row.least_us:.0f}", "" if row.copy is None else f"{row.copy:.2f}"
    return (*shown, "" if row.ahead is None else f"{row.ahead:.2f}")


def _summary(found: list[Counted], names: tuple[str, ...]) -> dict[str, Any]:
    made = {name: [(row, row.kernels[name]) for row in found] for name in names}
    return {
        name: {
            "rows": len(pairs),
            "counted": sum(count is not None for _, count in pairs),
            "above": [row.number for row, count in pairs if count is not None and count > row.most],
            "least": sum(count is not None and count <= row.least for row, count in pairs),
        }
        for name, pairs in made.items()
    }


def _show(found: list[Counted], names: tuple[str, ...]) -> None:
    console = printer()
    table = Table("row", "graph", "2025-01", "2026-08", *names)
    for row in found:
        expected = ("" if each is None else str(each) for each in (row.old, row.new))
        counts = (row.kernels[name] for name in names)
        made = ("refused" if each is None else str(each) for each in counts)
        table.add_row(str(row.number), escape(row.what), *expected, *made)
    console.print(table)
    for name, said in _summary(found, names).items():
        above = ", ".join(map(str, said["above"])) or "none"
        console.print(
            f"{name}: {said['counted']} of {said['rows']} rows; above the larger count: {above}; at the smaller or "
            f"below: {said['least']}"
        )
    for row in found:
        for name, error in row.errors.items():
            console.print(escape(f"row {row.number}, {name}: {error}"))
