"""``conformance schedule``: the schedule in a file, judged clause by clause."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import Console

from conformance.cases.schedule.codec import load_schedule
from conformance.cases.schedule.schedule import Schedule
from conformance.cli.progress import print_json, printer
from conformance.judging.schedules.clause import Relation
from conformance.judging.schedules.verdict import ClauseFinding
from conformance.specs.schedules import CLAUSE_BY_ID, judge, judge_two


@click.command("schedule")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--second",
    type=(click.Choice(get_args(Relation)), click.Path(path_type=Path)),
    multiple=True,
    metavar="RELATION FILE",
    help="Judge a second schedule of the graph as well; it is that of the first: "
    f"{', '.join(get_args(Relation))} (twice: of one result, and of the rest).",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(file: Path, second: tuple[tuple[Relation, Path], ...], as_json: bool) -> int:
    """Judge the schedule in FILE: for each clause whether it is held, broken, or does not speak of it.

    `conformance run --suite schedules` asks backends for schedules of programs and graphs, and judges those. The exit
    status is 1 when a must clause is broken.
    """
    first = load_schedule(file)
    found = list(judge(first))
    others: dict[Relation, list[tuple[Path, Schedule]]] = {}
    for relation, other in second:
        others.setdefault(relation, []).append((other, load_schedule(other)))
    for relation, several in others.items():
        if (len(several) > 1) != (relation == "together"):
            many = "twice or more" if relation == "together" else "once"
            raise click.UsageError(f"--second {relation} is needed {many}, and was given {len(several)} times")
        if not all(_of_one_graph(first, each, relation) for _, each in several):
            raise click.UsageError(f"--second {relation} is needed of the graph in {file}, and is of another")
        alone = [] if relation == "afterwards" else [each for other, one in several for each in _broken(other, one)]
        # What breaks a must is not defined, and not to be compared.
        wrong = any(CLAUSE_BY_ID[each.clause].requirement == "must" for each in alone)
        (_, compared), *more = several
        found += alone if wrong else judge_two(first, compared, relation, *(one for _, one in more))
    if as_json:
        print_json({"file": str(file), "clauses": [_data(f) for f in found]})
    else:
        _show(printer(), found)
    return int(any(each.finding == "broken" and CLAUSE_BY_ID[each.clause].requirement == "must" for each in found))


def _broken(file: Path, second: Schedule) -> list[ClauseFinding]:
    """Return what a second schedule breaks itself, each with the name of its file."""
    return [
        ClauseFinding(each.clause, each.finding, f"{file}: {each.detail}")
        for each in judge(second)
        if each.finding == "broken"
    ]


def _of_one_graph(first: Schedule, second: Schedule, relation: Relation) -> bool:
    """Return whether two schedules are of one graph, but for what the relation says is different."""
    if first.graph is None or second.graph is None:
        return first.graph is second.graph
    if relation in ("reordered", "together"):
        # Nodes that only the other results need are not in the graph of some.
        ours, theirs = ({node.id: node for node in graph.nodes} for graph in (first.graph, second.graph))
        return all(ours.get(name) == node for name, node in theirs.items())
    if relation == "rebound":
        return first.graph.nodes == second.graph.nodes
    return first.graph == second.graph


def _data(found: ClauseFinding) -> dict[str, Any]:
    clause = CLAUSE_BY_ID[found.clause]
    return {
        "id": found.clause,
        "requirement": clause.requirement,
        "finding": found.finding,
        "detail": found.detail or None,
        "text": clause.text,
        "source": clause.source,
    }


def _show(console: Console, found: list[ClauseFinding]) -> None:
    for each in found:
        clause = CLAUSE_BY_ID[each.clause]
        console.print(f"{each.finding:<7}{each.clause:<15}{clause.requirement:<7}{clause.text}", markup=False)
        if each.detail:
            console.print(f"       {each.detail}", markup=False)
    counts = Counter(each.finding for each in found)
    console.print(
        f"{counts['held']} held, {counts['broken']} broken, {counts['silent']} do not speak of it", markup=False
    )
