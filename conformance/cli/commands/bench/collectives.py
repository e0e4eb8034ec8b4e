"""``conformance bench collectives``: how fast collectives are, next to others and to a memory copy."""

from __future__ import annotations

import shutil
from typing import Any

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from conformance.bench.collectives.driver import PEERS, PeerError, missing
from conformance.bench.collectives.point import OPS
from conformance.bench.collectives.rounds import Measured, Row, measure
from conformance.cli.commands.bench import present
from conformance.cli.names import checked, names_option
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, print_json, printer

COLUMNS = (
    "backend", "operation", "size (B)", "count", "type", "redop", "time (us)", "least (us)", "algbw", "busbw", "#wrong",
    "x copy", "ahead", "launch (us)",
)  # fmt: skip

UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


class Sizes(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 only
    """One or more sizes in bytes, separated by commas: 4096, 4K, 4M."""

    name = "BYTES[,BYTES]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the sizes in bytes; fail on what is no positive size."""
        if isinstance(value, tuple):
            return value
        found = []
        for text in str(value).upper().split(","):
            unit = UNITS.get(text.strip()[-1:], 1)
            digits = text.strip()[:-1] if unit > 1 else text.strip()
            if not digits.isdecimal() or int(digits) < 1:
                self.fail(f"{text!r} is no size; write 4096, 4K or 4M", param, ctx)
            found.append(int(digits) * unit)
        return tuple(dict.fromkeys(found))


HERE = ("opencl", "jax", "torch", "mpi")
"""Who is timed where nobody is named: whatever of these the environment has."""


class Peer(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 only
    """A backend and the interpreter of the environment that it is in."""

    name = "NAME=PYTHON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return name and interpreter; fail on what is no backend that can be timed, and no program."""
        if isinstance(value, tuple):
            return value
        name, equals, python = str(value).partition("=")
        if not equals:
            self.fail(f"{value!r} is no NAME=PYTHON; write mpi-openmpi=/path/of/environment/bin/python", param, ctx)
        if name not in PEERS:
            self.fail(f"{name!r} cannot be timed; known are {', '.join(PEERS)}", param, ctx)
        found = shutil.which(python)
        if found is None:
            self.fail(f"{python!r} of {name} is no program; name the python of its environment", param, ctx)
        return name, found


@click.command("collectives")
@names_option("-b", "--backend", "names", help="Who is timed; all here by default.")
@click.option(
    "--peer", "elsewhere", type=Peer(), multiple=True, help="Time NAME too, in the environment of PYTHON; repeatable."
)
@click.option(
    "--sizes", type=Sizes(), multiple=True, default=("4K", "4M", "64M"), show_default=True, help="Bytes a rank."
)
@names_option("--ops", default=tuple(OPS), show_default=", ".join(OPS), help="Which operations.")
@click.option("--ranks", type=click.IntRange(2, 8), default=4, show_default=True, help="How many ranks meet.")
@click.option("--repeats", type=click.IntRange(1), default=15, show_default=True, help="Rounds; each times everybody.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    names: tuple[str, ...],
    elsewhere: tuple[tuple[str, str], ...],
    sizes: tuple[tuple[int, ...], ...],
    ops: tuple[str, ...],
    ranks: int,
    repeats: int,
    as_json: bool,
) -> int:
    """Time float32 collectives of every backend in turn, each in processes of its own.

    Columns are those of nccl-tests. floor is an empty kernel of opencl's, enqueued and finished. x copy: the time as a
    multiple of what two threads take to copy the bytes of all ranks. ahead: how many times as long the fastest other
    takes. Results are checked against NumPy, and lie where those of the call before did.
    """
    pythons = dict(elsewhere)
    asked = checked("backend", tuple(dict.fromkeys((*(names or HERE), *pythons))), PEERS)
    chosen, absent = present(asked, lambda name: None if name in pythons else missing(name), named=bool(names))
    bytes_each = tuple(dict.fromkeys(size for several in sizes for size in several))
    with Progress(quiet=as_json) as progress:
        try:
            found = measure(chosen, checked("operation", ops, OPS), bytes_each, ranks, repeats, progress.tell, pythons)
        except PeerError as error:
            raise Problem(str(error), 3) from error
    if as_json:
        print_json(as_data(found, absent))
    else:
        _show(found, absent)
    return int(any(row.wrong for row in found.rows))


def as_data(found: Measured, absent: dict[str, str]) -> dict[str, Any]:
    """Return what is shown as plain data; what was not measured is null."""
    return {**msgspec.to_builtins(found), "absent": absent}


def _show(found: Measured, absent: dict[str, str]) -> None:
    console = printer()
    table = Table(*COLUMNS)
    for row in found.rows:
        table.add_row(*_cells(row))
    console.print(table)
    for row in found.rows:
        if row.error:
            console.print(escape(f"{row.op} of {row.size} bytes: {row.error}"))
    for one in found.overlaps:
        console.print(
            f"{one.backend} {one.op} of {one.size} bytes: alone {one.collective_us:.0f} us, a computation alone "
            f"{one.computation_us:.0f} us, the computation during the collective {one.both_us:.0f} us: "
            f"{one.share:.2f} of their sum"
        )
    cache = "unknown" if found.cache is None else f"{found.cache / 2**20:.0f} MiB"
    console.print(f"{found.ranks} ranks; last-level cache: {cache}; algbw and busbw in GB/s")
    for name, said in found.peers.items():
        console.print(escape(f"{name}: " + ", ".join(f"{key} {value}" for key, value in said.items())))
    for name, how in absent.items():
        console.print(escape(f"{name}: absent ({how})"))


def _cells(row: Row) -> tuple[str, ...]:
    first = (escape(row.backend), row.op, str(row.size), str(row.count), row.type, row.redop)
    if row.error:
        return (*first, "error", *[""] * (len(COLUMNS) - len(first) - 1))
    speed = (f"{row.time_us:.1f}", f"{row.least_us:.1f}", f"{row.algbw:.2f}", f"{row.busbw:.2f}", str(row.wrong))
    ahead = "" if row.ahead is None else f"{row.ahead:.2f}"
    copy = "" if row.copy is None else f"{row.copy:.2f}"
    return (*first, *speed, copy, ahead, "" if row.launch_us is None else f"{row.launch_us:.0f}")
