"""``conformance types``: the checker of types beside a backend's, on drawn programs."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table

from conformance.backends.discovery import load
from conformance.cli.opening import located
from conformance.cli.progress import Progress, print_json, printer
from conformance.qualification.typed_verdicts import SEVERAL, Verdicts, compare, types_of
from conformance.specs.types.jax_rules import DIFFERENCES

CHUNK = 100
"""Programs between two lines of progress."""


@click.command("types")
@click.argument("backend", default="jax")
@click.option("--programs", type=click.IntRange(1), default=5000, show_default=True, help="How many are drawn.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same programs.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(backend: str, programs: int, seed: int, as_json: bool) -> int:
    """Say on how many drawn programs BACKEND accepts what the checker accepts, and in which classes they differ.

    The status is 1 where a program differs and no class explains it. BACKEND runs in this process.
    """
    spec = located([backend])[backend]
    found = Verdicts()
    with Progress(quiet=as_json) as progress:
        judged = load(spec)
        try:
            for start in range(0, programs, CHUNK):
                progress.tell(f"{start} of {programs} programs")
                found += compare(types_of(judged), start, min(start + CHUNK, programs), seed)
        finally:
            judged.close()
    if not found.judged:
        raise click.UsageError(f"{backend} says nothing about the types of a program; jax and opencl do")
    if as_json:
        print_json(_data(found))
    else:
        _show(printer(), found, backend)
    return 1 if found.unexplained else 0


def _data(found: Verdicts) -> dict[str, Any]:
    return {
        "judged": found.judged,
        "silent": found.silent,
        "alike": found.alike,
        "share": round(found.share, 4),
        "prescribed": found.prescribed,
        "share_of_others": round(found.share_of_others, 4),
        "classes": [
            {
                "name": name,
                "verdicts": found.classes[name],
                "types": found.types[name],
                "text": difference.text,
                "clauses": difference.clauses,
                "source": difference.source,
                "prescribed": difference.prescribed,
            }
            for name, difference in DIFFERENCES.items()
        ],
        "several": {"verdicts": found.classes[SEVERAL], "types": found.types[SEVERAL]},
        "unexplained": found.unexplained,
    }


def _show(console: Console, found: Verdicts, backend: str) -> None:
    console.print(
        f"{found.judged} programs judged, {found.silent} of which {backend} says nothing; "
        f"{found.alike} verdicts alike ({found.share:.1%}), {sum(found.classes.values())} otherwise by a class, "
        f"{len(found.unexplained)} unexplained",
        markup=False,
    )
    console.print(
        f"{found.prescribed} of the others differ as this specification prescribes; without them "
        f"{found.alike} of {found.judged - found.prescribed} are alike ({found.share_of_others:.1%})",
        markup=False,
    )
    table = Table("class", "other verdict", "other types", "clauses", "source", "prescribed")
    for name, difference in DIFFERENCES.items():
        clauses, yes = " ".join(difference.clauses), "yes" if difference.prescribed else ""
        table.add_row(name, str(found.classes[name]), str(found.types[name]), clauses, difference.source, yes)
    table.add_row(SEVERAL, str(found.classes[SEVERAL]), str(found.types[SEVERAL]), "", "", "")
    console.print(table)
    for line in found.unexplained:
        console.print(line, markup=False)
