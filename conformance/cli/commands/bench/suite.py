"""``conformance bench suite``: cases judged a second by each backend, and where the time goes."""

from __future__ import annotations

from typing import Any

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from conformance.bench.suite import Measured, bench_suite
from conformance.cli.names import names_option
from conformance.cli.opening import DEFAULT, opened, planned
from conformance.cli.progress import Progress, print_json, printer
from conformance.runner.plan import EXAMPLES

PHASES = ("drawing", "reference", "judging", "waiting")


@click.command("suite")
@names_option("-b", "--backend", "names", default=DEFAULT, show_default="opencl", help="Who is timed.")
@names_option("--suite", "suites", help="Only these suites [default: all].")
@names_option("--op", "ops", help="Only these operations.")
@click.option(
    "--examples",
    type=click.IntRange(1),
    default=EXAMPLES,
    show_default=True,
    help="Draws an operation.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same cases.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    names: tuple[str, ...], suites: tuple[str, ...], ops: tuple[str, ...], examples: int, seed: int, as_json: bool
) -> None:
    """Time distinct cases through isolated workers, start-up and verdicts included, one backend after the other.

    fresh: a new worker. cached: the same cases again in the same warm worker, but for those that end it.
    """
    plan = planned(ops, suites, examples=examples, seed=seed)
    found: list[Measured] = []
    with Progress(quiet=as_json) as progress:
        for name in names:
            with opened([name]) as workers:
                found += bench_suite(name, workers[name], plan, progress)
    if as_json:
        print_json({"measured": [as_data(one) for one in found]})
        return
    columns = ("backend", "kind", "cases", "unanswered", "seconds", "cases/s", *PHASES, "in backend", "reference share")
    table = Table(*columns)
    for one in found:
        table.add_row(
            escape(one.backend),
            one.kind,
            str(one.cases),
            str(one.unanswered),
            f"{one.seconds:.1f}",
            f"{one.cases_per_second:.1f}",
            *(f"{one.phases.get(phase, 0.0):.1f} s" for phase in PHASES),
            f"{one.backend_seconds:.1f} s",
            f"{one.reference_share:.0%}",
        )
    printer().print(table)


def as_data(one: Measured) -> dict[str, Any]:
    """Return what the table shows as plain data."""
    rates = {"cases_per_second": round(one.cases_per_second, 2), "reference_share": round(one.reference_share, 4)}
    return {**msgspec.to_builtins(one), **rates}
