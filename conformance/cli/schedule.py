"""``conformance schedule``: a schedule file, or two of one graph, judged clause by clause."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
from rich.console import Console

from conformance.cases.schedule_codec import load_schedule
from conformance.cli.progress import printer
from conformance.judging.schedule_clause import Found, Relation
from conformance.specs.schedules import EVERY, judge, judge_two


@click.command("schedule")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--second",
    type=(click.Choice(get_args(Relation)), click.Path(path_type=Path)),
    metavar="RELATION FILE",
    help=f"Judge a second schedule of the graph as well; it is that of the first: {', '.join(get_args(Relation))}.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(file: Path, second: tuple[Relation, Path] | None, as_json: bool) -> int:
    """Judge the schedule in FILE: for each clause whether it is held, broken, or does not speak of it.

    The exit status is 1 when a must clause is broken.
    """
    first = load_schedule(file)
    found = list(judge(first))
    if second is not None:
        found += judge_two(first, load_schedule(second[1]), second[0])
    if as_json:
        print(
            msgspec.json.format(msgspec.json.encode({"file": str(file), "clauses": [_data(f) for f in found]})).decode()
        )
    else:
        _show(printer(), found)
    return int(any(each.finding == "broken" and EVERY[each.clause].requirement == "must" for each in found))


def _data(found: Found) -> dict[str, Any]:
    clause = EVERY[found.clause]
    return {
        "id": found.clause,
        "requirement": clause.requirement,
        "finding": found.finding,
        "detail": found.detail or None,
        "text": clause.text,
        "source": clause.source,
    }


def _show(console: Console, found: list[Found]) -> None:
    for each in found:
        clause = EVERY[each.clause]
        console.print(f"{each.finding:<7}{each.clause:<15}{clause.requirement:<7}{clause.text}", markup=False)
        if each.detail:
            console.print(f"       {each.detail}", markup=False)
    counts = Counter(each.finding for each in found)
    console.print(
        f"{counts['held']} held, {counts['broken']} broken, {counts['silent']} do not speak of it", markup=False
    )
