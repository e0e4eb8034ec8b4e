"""``conformance schedule``: schedules judged clause by clause, of a file, or of backends asked for random ones."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, get_args

import click
import msgspec
from rich.console import Console

from conformance.cases.pretty import pretty
from conformance.cases.schedule.codec import load_schedule
from conformance.cases.schedule.schedule import Schedule
from conformance.cli.names import Written, names_option
from conformance.cli.opening import new_directory, opened, output
from conformance.cli.outcome import STATUS
from conformance.cli.progress import Progress, print_json, printer
from conformance.judging.schedules.clause import Found, Relation
from conformance.runner.coverage.interactions import Interactions
from conformance.runner.schedule_run import Outcome, ScheduleRun, run_schedules
from conformance.specs.schedules import EVERY, judge, judge_two

ALONE: Final = {
    "examples": "--examples",
    "seed": "--seed",
    "directory": "-o",
    "in_process": "--in-process",
    "coverage": "--coverage",
}
"""The options that are about asking backends."""


@click.command("schedule")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--second",
    type=(click.Choice(get_args(Relation)), click.Path(path_type=Path)),
    multiple=True,
    metavar="RELATION FILE",
    help="Judge a second schedule of the graph as well; it is that of the first: "
    f"{', '.join(get_args(Relation))} (twice: of one result, and of the rest).",
)
@names_option("-b", "--backend", "names", help="Ask these for schedules, instead of FILE.")
@click.option(
    "--examples", type=click.IntRange(1), default=100, show_default=True, help="Draws of programs, and of graphs."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same questions.")
@click.option("-o", "--output", "directory", type=Written(), help="Folder [default: runs/TIME].")
@click.option("--in-process", is_flag=True, help="Without worker processes, for debugging: a crash ends the run.")
@click.option("--coverage", is_flag=True, help="Say which features and steps of graphs met, and which never did.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    file: Path | None,
    second: tuple[tuple[Relation, Path], ...],
    names: tuple[str, ...],
    examples: int,
    seed: int,
    directory: Path | None,
    in_process: bool,
    coverage: bool,
    as_json: bool,
) -> int:
    """Judge the schedule in FILE: for each clause whether it is held, broken, or does not speak of it.

    With -b, ask backends for the schedules of random programs and graphs instead, and count for each clause how often
    it spoke, held and was broken; what fails is made small and written to a folder. The exit status is 1 when a must
    clause is broken, a backend breaks or refuses what it claims, 3 when too little was judged to say anything.
    """
    if (file is None) == (not names) or (names and second):
        raise click.UsageError(
            "a FILE to judge, or -b with the backends to ask, is needed: one of them, and --second with FILE"
        )
    given = click.get_current_context().get_parameter_source
    idle = [name for name in ALONE if not names and given(name) is click.core.ParameterSource.COMMANDLINE]
    if idle:
        raise click.UsageError(f"{ALONE[idle[0]]} is for -b: a FILE is judged as it is")
    if names:
        directory = directory or new_directory()
        return _asked(names, examples, seed, directory, in_process=in_process, coverage=coverage, as_json=as_json)
    assert file is not None
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
        wrong = any(EVERY[each.clause].requirement == "must" for each in alone)
        (_, compared), *more = several
        found += alone if wrong else judge_two(first, compared, relation, *(one for _, one in more))
    if as_json:
        print_json({"file": str(file), "clauses": [_data(f) for f in found]})
    else:
        _show(printer(), found)
    return int(any(each.finding == "broken" and EVERY[each.clause].requirement == "must" for each in found))


def _broken(file: Path, second: Schedule) -> list[Found]:
    """Return what a second schedule breaks itself, each with the name of its file."""
    return [
        Found(each.clause, each.finding, f"{file}: {each.detail}") for each in judge(second) if each.finding == "broken"
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


def _asked(
    names: tuple[str, ...],
    examples: int,
    seed: int,
    directory: Path,
    *,
    in_process: bool,
    coverage: bool,
    as_json: bool,
) -> int:
    with ExitStack() as stack:
        workers = stack.enter_context(opened(names, in_process=in_process))
        # Another process of each: what is asked for again must not depend on the process.
        others = stack.enter_context(opened(names, in_process=in_process))
        folder = stack.enter_context(output(directory))
        progress = stack.enter_context(Progress(quiet=as_json))
        pairs = {name: (workers[name], others[name]) for name in workers}
        found = run_schedules(pairs, folder, examples=examples, seed=seed, watch=progress.tell)
        data = {**msgspec.to_builtins(found, order="deterministic"), "status": found.status, "folder": str(folder)}
        (folder / "schedules.json").write_text(pretty(data))
    if as_json:
        print_json(data)
    else:
        _show_run(printer(), found, directory)
        if coverage:
            _show_coverage(printer(), found.graphs)
    return found.status


def _show_run(console: Console, found: ScheduleRun, folder: Path) -> None:
    for one in found.backends:
        others = [f"{count} {outcome}" for outcome, count in one.outcomes.items() if outcome != "judged"]
        seconds = [f"{count} with a second, {name}" for name, count in one.second.items()]
        console.print(", ".join([_judged(one), *others, *seconds]), markup=False)
        computed = sum(each.held + each.broken for each in one.clauses if each.id == "law.C1")
        console.print(f"    the values of {computed} of {one.judged} were computed", markup=False)
        for reason, count in one.reasons.items():
            console.print(f"    {count} {reason}", markup=False)
        _show_clauses(console, one)
        for failure in one.failures:
            # What a framework raises may be a whole graph; ``schedules.json`` has all of it.
            line = failure.detail.partition("\n")[0]
            console.print(f"{failure.count} {failure.kind}s fail {failure.way}: {line}", markup=False)
            for name in failure.files:
                console.print(f"    {folder / name}", markup=False)
        if one.lack is not None:
            console.print(f"{one.backend}: {one.lack}", markup=False)
    for domain, count in found.drawn.items():
        if 2 * count < found.examples:
            console.print(f"{found.examples} draws gave only {count} distinct {domain}", markup=False)
    console.print(f"{STATUS[found.status]}; {', '.join(_judged(one) for one in found.backends)}", markup=False)


def _show_coverage(console: Console, met: Interactions) -> None:
    shares = {"pairs": met.pairs, "triples": met.triples, "trigrams": met.trigrams}
    said = [f"{each.met} of {each.feasible} {name} ({each.part:.0%})" for name, each in shares.items()]
    console.print(f"graphs met {', '.join(said)}; the largest holes:", markup=False)
    for hole in met.holes:
        console.print(f"    {hole}", markup=False)


def _judged(one: Outcome) -> str:
    return f"{one.backend}: {one.judged} judged of {one.asked} asked"


def _show_clauses(console: Console, one: Outcome) -> None:
    console.print(f"    {'spoke':>6}{'held':>6}{'broke':>6}", markup=False)
    for each in one.clauses:
        spoke = each.held + each.broken
        console.print(f"    {spoke:>6}{each.held:>6}{each.broken:>6}  {each.id:<15}{each.requirement}", markup=False)


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
