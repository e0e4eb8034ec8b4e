"""A run over schedules: every backend is asked, every clause is counted, and what fails is made small and written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.codec import save
from conformance.cases.graph import Graph, pruned
from conformance.cases.index_map import sizes
from conformance.cases.pretty import pretty
from conformance.cases.schedule import Schedule
from conformance.cases.schedule_codec import text
from conformance.judging.clause import Requirement
from conformance.judging.schedule_clause import PairClause
from conformance.runner.draws import shrink
from conformance.runner.lane import Judgeable
from conformance.runner.reductions import reductions
from conformance.runner.schedules import DOMAINS, Asked, Asker, Judged, Tally, drawn, name_of, tallied
from conformance.specs.schedules import EVERY

CALLS: Final = 150
"""New questions that shrinking one failure may ask, and the listed reductions of it after that."""

SLOW: Final = 15
"""The same where every answer costs a worker."""

Kind = Literal["program", "graph"]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One way to fail by its smallest question. ``way`` is a clause, or an outcome with the kind of error.

    ``count`` of the questions drawn fail so. ``minimal`` says that no listed reduction fails any more; ``files`` are
    the question and what was made of it, below the folder of the run.
    """

    way: str
    requirement: Requirement
    kind: Kind
    name: str
    detail: str
    count: int
    minimal: bool
    files: tuple[str, ...]
    asked: Asked
    schedule: Schedule | None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one backend: of ``asked`` questions how many had which outcome, and each clause's count.

    ``reasons`` say why questions have no graph or are unsupported.
    """

    backend: str
    description: dict[str, str]
    asked: int
    outcomes: dict[str, int]
    reasons: dict[str, int]
    second: dict[str, int]
    clauses: tuple[Tally, ...]
    failures: tuple[Failure, ...]

    @property
    def status(self) -> int:
        """Return 1 when a *must* fails, 3 when nothing was judged or not all that was asked, else 0."""
        if any(failure.requirement == "must" for failure in self.failures):
            return 1
        return 3 if self.outcomes.get("not_run") or not self.outcomes.get("judged") else 0


class ScheduleRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found."""

    seed: int
    examples: int
    drawn: dict[str, int]
    backends: tuple[Outcome, ...]

    @property
    def status(self) -> int:
        """Return 1 when any backend fails, else 3 when any was not judged whole or little was drawn, else 0."""
        found = {outcome.status for outcome in self.backends}
        short = any(2 * count < self.examples for count in self.drawn.values())
        return 1 if 1 in found else 3 if short or 3 in found else 0


def run_schedules(
    workers: Mapping[str, tuple[Judgeable, Judgeable]],
    folder: Path | None,
    *,
    examples: int,
    seed: int,
    watch: Callable[[str], None] = lambda line: None,
) -> ScheduleRun:
    """Ask every backend, each by two workers, for the schedules of ``examples`` draws of each domain.

    Failures are shrunk and written below ``folder``, if there is one. ``watch`` is told how far it is. Raise
    ``StartError`` for a backend that does not start.
    """
    questions = drawn(examples, seed)
    outcomes = []
    for name, pair in workers.items():
        asker = Asker(name, *pair)
        answers: dict[str, Judged] = {}
        for domain, listed in questions.items():
            for number, asked in enumerate(listed, 1):
                answers[name_of(asked)] = asker.ask(asked)
                watch(f"{name}: {number} of {len(listed)} {domain}")
        failures = tuple(_failures(asker, questions, answers, folder, examples, seed, watch))
        judged = list(answers.values())
        outcomes.append(
            Outcome(
                backend=name,
                description=asker.ready.description,
                asked=len(judged),
                outcomes=dict(Counter(each.outcome for each in judged).most_common()),
                reasons=dict(Counter(_reason(e) for e in judged if e.outcome in ("no_graph", "unsupported"))),
                second=dict(Counter(relation for each in judged for relation in each.second)),
                clauses=tallied(judged),
                failures=failures,
            )
        )
    counts = {domain: len(listed) for domain, listed in questions.items()}
    return ScheduleRun(seed=seed, examples=examples, drawn=counts, backends=tuple(outcomes))


def _reason(judged: Judged) -> str:
    """Return why there is nothing to judge, without the names and numbers of the one case."""
    return f"{judged.outcome}: " + re.sub(r"'[^']*'|\d+", "_", judged.detail.partition(":")[0])


def _failures(
    asker: Asker,
    questions: Mapping[str, Sequence[Asked]],
    answers: Mapping[str, Judged],
    folder: Path | None,
    examples: int,
    seed: int,
    watch: Callable[[str], None],
) -> Iterator[Failure]:
    """Yield a failure for each way in which a domain's questions fail."""
    for domain, listed in questions.items():
        failing: dict[str, list[Asked]] = {}
        for asked in listed:
            for way in answers[name_of(asked)].ways:
                failing.setdefault(way, []).append(asked)
        for way, several in failing.items():
            watch(f"{asker.name}: making a failure of {way} small")
            asked, minimal = _smallest(asker, domain, way, several, examples, seed)
            judged = asker.ask(asked)
            clause = EVERY.get(way)
            yield Failure(
                way=way,
                requirement=clause.requirement if clause else "must",
                kind="program" if isinstance(asked, Case) else "graph",
                name=name_of(asked),
                detail=judged.ways[way],
                count=len(several),
                minimal=minimal,
                files=tuple(_written(asker.name, way, asked, judged, folder)) if folder else (),
                asked=asked,
                schedule=judged.schedule,
            )


def _smallest(
    asker: Asker, domain: str, way: str, several: Sequence[Asked], examples: int, seed: int
) -> tuple[Asked, bool]:
    """Return the smallest question found that fails in this way, and whether no listed reduction is left."""
    start = min(several, key=lambda asked: (len(asker.ask(asked).ways), _size(asked)))
    calls = CALLS if way in EVERY else SLOW

    def fails(asked: Asked) -> bool:
        try:
            return way in asker.ask(asked).ways
        except (ValueError, IndexError, TypeError, KeyError):
            return False  # a reduction made a program that is malformed

    found = shrink(DOMAINS[domain], examples, seed, name_of(start), fails, calls, name_of) or start
    best = min(found, start, key=_size)
    left = calls
    while True:
        for smaller in _reductions(best):
            if _size(smaller) >= _size(best):
                continue
            left -= name_of(smaller) not in asker.known
            if left < 0:
                return best, False
            if fails(smaller):
                best = smaller
                break
        else:
            return best, True


def _size(asked: Asked) -> tuple[int, ...]:
    if isinstance(asked, Case):
        blocks = [block for operand in asked.inputs.values() for block in operand.blocks]
        layouts = [layout for operand in asked.inputs.values() for layout in operand.layouts]
        size = (
            sum(len(block.bits) + len(block.shape) for block in blocks),
            sum(each != "contiguous" for each in layouts),
        )
        text = msgspec.json.encode(asked.program)
        return (asked.program.world, len(asked.program.steps), *size, len(asked.program.results), len(text))
    devices = {node.device for node in asked.nodes}
    elements = sum(extent for node in asked.nodes for extent in sizes(node.shape, asked.most))
    ranges = sum(variable.high - variable.low for variable in asked.variables.values())
    length = len(msgspec.json.encode(asked))
    return len(asked.nodes), len(devices), len(asked.results), len(asked.variables), elements, ranges, length


def _reductions(asked: Asked) -> Iterator[Asked]:
    """Yield what is one listed reduction smaller: of a program those of ``reductions``; a graph loses a node."""
    if isinstance(asked, Case):
        yield from reductions(asked)
        return
    for result in asked.results if len(asked.results) > 1 else ():
        yield pruned(replace(asked, results=tuple(other for other in asked.results if other != result)))
    for name, each in asked.variables.items():
        fewer = {**asked.variables, name: replace(each, low=each.value)}
        yield replace(asked, variables=fewer)
    for node in asked.nodes:
        if node.op == "assign" and node.id not in asked.results:
            yield _without(asked, node.id, node.of[0])
        for source in node.of[:1]:
            at = next(other for other in asked.nodes if other.id == source)
            if (at.shape, at.dtype, at.device) == (node.shape, node.dtype, node.device) and node.op != "assign":
                yield _without(asked, node.id, source)


def _without(graph: Graph, gone: str, instead: str) -> Graph:
    """Return the graph without a node; another takes its place in its users and among the results."""
    nodes = tuple(
        replace(node, of=tuple(instead if source == gone else source for source in node.of))
        for node in graph.nodes
        if node.id != gone
    )
    results = tuple(dict.fromkeys(instead if result == gone else result for result in graph.results))
    return pruned(replace(graph, nodes=nodes, results=results))


def _written(backend: str, way: str, asked: Asked, judged: Judged, folder: Path) -> Iterator[str]:
    """Write the question and the schedules that were made of it, and yield the names of the files."""
    stem = re.sub(r"[^\w.-]+", "-", f"{backend}-{way}-{'program' if isinstance(asked, Case) else 'graph'}")
    if isinstance(asked, Case):
        save(asked, folder / f"{stem}.case.json")
        yield f"{stem}.case.json"
    else:
        (folder / f"{stem}.graph.json").write_text(pretty(msgspec.to_builtins(asked, order="deterministic")))
        yield f"{stem}.graph.json"
    clause = EVERY.get(way)
    others = judged.second.get(clause.relation, ()) if isinstance(clause, PairClause) else ()
    made = {"": judged.schedule, **{f".second{at}": other for at, other in enumerate(others, 1)}}
    for suffix, schedule in made.items():
        if schedule is not None:
            (folder / f"{stem}{suffix}.schedule.json").write_text(text(schedule))
            yield f"{stem}{suffix}.schedule.json"
