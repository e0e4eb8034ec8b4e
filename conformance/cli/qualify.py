"""``conformance qualify``: the suite against deliberately broken backends."""

from __future__ import annotations

import click
import msgspec
from rich.console import Console
from rich.table import Table

from conformance.cli.progress import Progress, print_json, printer
from conformance.qualification.kill import Mutant
from conformance.qualification.mutant_module import load_mutants
from conformance.qualification.mutants import mutants
from conformance.qualification.mutants.corpus import CORPUS
from conformance.qualification.qualify import Qualification, qualify
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.violations import violations
from conformance.runner.plan import EXAMPLES


@click.command("qualify")
@click.option("--mutants", "module", default="", help="Module of mutants [default: the suite's own].")
@click.option(
    "--examples",
    type=click.IntRange(1),
    default=EXAMPLES,
    show_default=True,
    help="Draws an operation.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same cases.")
@click.option("--in-process", is_flag=True, help="Without worker processes: quicker, and as good for honest mutants.")
@click.option("--json", "as_json", is_flag=True, help="Print the kill matrix as JSON.")
def command(module: str, examples: int, seed: int, in_process: bool, as_json: bool) -> int:
    """Show that every mutant is killed, and by the clause it was made to break."""
    chosen = load_mutants(module) if module else (*mutants(), *schedule_mutants())
    violated = () if module else violations()
    with Progress(quiet=as_json) as progress:

        def watch(mutant: Mutant) -> None:
            progress.tell(f"{mutant.name}: {mutant.clause or 'survived'} after {mutant.cases} cases", now=True)

        found = qualify(chosen, examples=examples, seed=seed, in_process=in_process, violated=violated, watch=watch)
    if not module:
        uncovered = tuple(report for report in CORPUS if report.missing)
        found = msgspec.structs.replace(found, uncovered=uncovered)
    if as_json:
        print_json(found)
    else:
        _show(printer(), found)
    return 1 if found.survivors else 0


def _show(console: Console, found: Qualification) -> None:
    table = Table("mutant", "made to break", "killed by", "cases", "seconds", "the mistake")
    for mutant in found.mutants:
        killer = (mutant.clause or "-") if mutant.killed else f"SURVIVED ({mutant.clause or 'nothing'})"
        table.add_row(mutant.name, mutant.breaks or "-", killer, str(mutant.cases), f"{mutant.seconds:.2f}", mutant.doc)
    console.print(table)
    console.print(f"{len(found.mutants) - len(found.survivors)} of {len(found.mutants)} mutants killed")
