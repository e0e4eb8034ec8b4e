"""A run over schedules: every backend is asked, every clause is counted, and what fails is made small and written."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace as replaced
from pathlib import Path
from typing import Final, Literal

import msgspec

from conformance.cases.case import Case
from conformance.cases.codec import save
from conformance.cases.graph.graph import Graph
from conformance.cases.graph.situations import CLASSES, EXCLUDED, FEATURES, situations, trigrams
from conformance.cases.pretty import pretty
from conformance.cases.schedule.codec import text
from conformance.cases.schedule.schedule import Schedule
from conformance.judging.clause import Requirement
from conformance.judging.schedules.clause import PairClause
from conformance.runner.coverage.interactions import Interactions, interactions
from conformance.runner.schedules import Asked, Asker, Judged, Tally, drawn, name_of, reason, tallied
from conformance.runner.shrinking.schedule_reductions import smallest
from conformance.runner.worker.judgeable import Judgeable
from conformance.specs.schedules import EVERY

IDLE: Final = ("no_graph", "unsupported", "refused", "adapter_error")
"""The outcomes of questions that need no answer."""

STEM: Final = 100
"""Characters of a file's name before the kind of file; what an exception is called may be of any length."""

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


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Of the programs, or graphs, that were ``asked``, how many a backend is ``held`` to and how many were ``judged``.

    It is held to the programs within its claims, and to all graphs; to none of a kind of which it refuses each.
    """

    asked: int
    held: int
    judged: int


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one backend: of ``asked`` questions how many had which outcome, and each clause's count.

    ``shares`` are by domain. ``reasons`` say why questions need no answer, and have the notes on those that got one.
    """

    backend: str
    description: dict[str, str]
    asked: int
    shares: dict[str, Share]
    outcomes: dict[str, int]
    reasons: dict[str, int]
    second: dict[str, int]
    clauses: tuple[Tally, ...]
    failures: tuple[Failure, ...]

    @property
    def judged(self) -> int:
        """Return how many questions were judged."""
        return self.outcomes.get("judged", 0)

    @property
    def lack(self) -> str | None:
        """Return why this certifies nothing: nothing, or little of what it is held to, was judged."""
        if self.outcomes.get("not_run"):
            return f"{self.outcomes['not_run']} were not asked"
        if self.outcomes.get("adapter_error"):
            return f"in {self.outcomes['adapter_error']} the adapter's own lines raised"
        if not self.judged:
            return "nothing was judged"
        for domain, share in self.shares.items():
            if 2 * share.judged < share.held:
                return f"of the {share.held} {domain} it is held to only {share.judged} could be judged"
        return None

    @property
    def status(self) -> int:
        """Return 1 when a *must* fails, 3 when too little was judged or not all was asked, else 0."""
        if any(failure.requirement == "must" for failure in self.failures):
            return 1
        return 0 if self.lack is None else 3


class ScheduleRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found. ``graphs`` says which features of graphs, and which steps, met in those that were drawn."""

    seed: int
    examples: int
    drawn: dict[str, int]
    graphs: Interactions
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
        for listed in questions.values():
            answers |= _untaken({name_of(asked): answers[name_of(asked)] for asked in listed})
        failures = tuple(_failures(asker, questions, answers, folder, examples, seed, watch))
        judged = list(answers.values())
        noted = [note for each in judged for note in each.notes]
        outcomes.append(
            Outcome(
                backend=name,
                description=asker.ready.description,
                asked=len(judged),
                shares={
                    domain: _share([answers[name_of(asked)] for asked in listed])
                    for domain, listed in questions.items()
                },
                outcomes=dict(Counter(each.outcome for each in judged).most_common()),
                reasons=dict(Counter([*(_reason(each) for each in judged if each.outcome in IDLE), *noted])),
                second=dict(Counter(relation for each in judged for relation in each.second)),
                clauses=tallied(judged),
                failures=failures,
            )
        )
    counts = {domain: len(listed) for domain, listed in questions.items()}
    met = met_in([asked for asked in questions.get("graphs", ()) if isinstance(asked, Graph)])
    return ScheduleRun(seed=seed, examples=examples, drawn=counts, graphs=met, backends=tuple(outcomes))


def met_in(graphs: Sequence[Graph]) -> Interactions:
    """Return the interaction coverage of graphs."""
    found = [each for graph in graphs for each in situations(graph)]
    return interactions(found, (each for graph in graphs for each in trigrams(graph)), FEATURES, CLASSES, EXCLUDED)


def _untaken(answers: Mapping[str, Judged]) -> dict[str, Judged]:
    """Return the answers to one kind of question, each refusal excused where every single one was refused.

    A backend that schedules graphs need not schedule programs, whatever it can run.
    """
    if any(each.outcome not in (*IDLE, "over_claimed") for each in answers.values()):
        return dict(answers)
    return {
        name: replaced(each, outcome="refused") if each.outcome == "over_claimed" else each
        for name, each in answers.items()
    }


def _share(answers: Sequence[Judged]) -> Share:
    """Return how many of one kind of question there are, how many a backend is held to, and were judged."""
    taken = any(each.outcome not in IDLE for each in answers)
    held = sum(each.outcome not in ("no_graph", "unsupported") for each in answers) if taken else 0
    return Share(asked=len(answers), held=held, judged=sum(each.outcome == "judged" for each in answers))


def _reason(judged: Judged) -> str:
    """Return why there is nothing to judge, without the names and numbers of the one case."""
    return f"{judged.outcome}: {reason(judged.detail)}"


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
                # What breaks a *may* is counted with the clause, and is no failure.
                if way not in EVERY or EVERY[way].requirement != "may":
                    failing.setdefault(way, []).append(asked)
        for way, several in failing.items():
            watch(f"{asker.name}: making a failure of {way} small")
            asked, minimal = smallest(asker, domain, way, several, examples, seed)
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


def _written(backend: str, way: str, asked: Asked, judged: Judged, folder: Path) -> Iterator[str]:
    """Write the question and the schedules that were made of it, and yield the names of the files."""
    words = f"{backend}-{way}-{'program' if isinstance(asked, Case) else 'graph'}"
    stem = re.sub(r"[^\w.-]+", "-", words)
    if len(stem) > STEM:
        stem = f"{stem[:STEM]}-{hashlib.sha256(words.encode()).hexdigest()[:12]}"
    if isinstance(asked, Case):
        save(asked, folder / f"{stem}.case.json")
        yield f"{stem}.case.json"
    else:
        (folder / f"{stem}.graph.json").write_text(pretty(msgspec.to_builtins(asked, order="deterministic")))
        yield f"{stem}.graph.json"
    clause = EVERY.get(way)
    # Of a clause that a second schedule breaks itself, the way begins with its relation.
    relation = clause.relation if isinstance(clause, PairClause) else way.partition(" ")[0]
    others = next((several for name, several in judged.second.items() if name == relation), ())
    made = {"": judged.schedule, **{f".second{at}": other for at, other in enumerate(others, 1)}}
    for suffix, schedule in made.items():
        if schedule is not None:
            (folder / f"{stem}{suffix}.schedule.json").write_text(text(schedule))
            yield f"{stem}{suffix}.schedule.json"
