"""``conformance bench sharded``: how fast programs on sharded tensors are, next to frameworks."""

from __future__ import annotations

import click
import msgspec

from conformance.bench.graphs.timed_graphs import SIZES
from conformance.bench.graphs.timings import standing, timings
from conformance.bench.sharded.competitors import COMPETING, close, on_devices
from conformance.bench.sharded.programs import PROGRAMS
from conformance.cli.commands.bench import not_installed, present
from conformance.cli.commands.bench.graphs import show_timings
from conformance.cli.names import names_option
from conformance.cli.progress import print_json


@click.command("sharded")
@names_option("-b", "--backend", "names", help="Who is timed; all here by default.")
@click.option("--size", "sizes", multiple=True, type=click.Choice(SIZES), help="Only this size; may be given again.")
@click.option(
    "--program", "programs", multiple=True, type=click.Choice(sorted(PROGRAMS)), help="Only this one; repeatable."
)
@click.option("--devices", default=2, show_default=True, type=click.IntRange(2, 8), help="Parts of each tensor.")
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1), help="Turns of each competitor.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    names: tuple[str, ...],
    sizes: tuple[str, ...],
    programs: tuple[str, ...],
    devices: int,
    rounds: int,
    as_json: bool,
) -> None:
    """Time programs on sharded tensors on several competitors in turn.

    Competitors are opencl, jax (NamedSharding), torch (DTensor over Gloo) and tinygrad (shard), each on as many devices
    of this processor. A copy of the bytes that are read and written, one thread a core, is timed beside them. The size
    large, with tensors of 16 MiB, is what is timed by default. Every result is compared with NumPy's in float64, and
    one that is wrong has no time. Ahead is how many times as long the fastest other one takes.
    """
    unknown = [name for name in names if name not in COMPETING]
    if unknown:
        raise click.UsageError(f"nobody times {', '.join(unknown)}; known are {', '.join(COMPETING)}")
    timed, absent = present(names or tuple(COMPETING), not_installed, named=bool(names))
    for name, how in absent.items():
        click.echo(f"{name}: absent ({how})", err=True)
    chosen = [PROGRAMS[name].of for name in programs or PROGRAMS]
    try:
        found = timings(
            timed, chosen, sizes or SIZES[-1:], rounds, lambda line: click.echo(line, err=True), on_devices(devices)
        )
    finally:
        close()
    if as_json:
        print_json(msgspec.to_builtins(found) | {"standing": {name: standing(found.rows, name) for name in timed}})
    else:
        show_timings(found, timed)
