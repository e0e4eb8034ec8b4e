"""``conformance bench graphs``: how many kernels graphs become."""

from __future__ import annotations

from typing import Any

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from conformance.backends.base import Backend
from conformance.backends.discovery import find, load
from conformance.bench.graphs.counts import Counted, counted
from conformance.cli.names import names_option
from conformance.cli.progress import print_json, printer


@click.command("graphs")
@names_option("-b", "--backend", "names", default=("opencl",), help="Whose kernels are counted.", show_default="opencl")
@click.option("--counts", is_flag=True, required=True, help="Count the kernels of each row.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(names: tuple[str, ...], counts: bool, as_json: bool) -> None:  # noqa: ARG001 - the one thing to ask for
    """Count the kernels that backends make of graphs, beside what tinygrad's own tests expect of theirs.

    The columns 2025-01 and 2026-08 are what those tests expected then. The last lines say how many rows have more
    kernels than the larger of the two, and how many have no more than the smaller.
    """
    backends: list[tuple[str, Backend]] = [(name, load(find(name))) for name in names]
    found = counted(backends)
    for _, backend in backends:
        backend.close()
    if as_json:
        print_json({"rows": msgspec.to_builtins(found), "summary": _summary(found, names)})
    else:
        _show(found, names)


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
