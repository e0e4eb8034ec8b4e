"""The dialect of schedules: what a backend makes of a program or a graph, judged by every clause about schedules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, get_args

import msgspec

from conformance.backends.lowering import lowered
from conformance.cases.case import Case
from conformance.cases.declarations.terms import Terms
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph
from conformance.cases.graph.situations import CLASSES, EXCLUDED, FEATURES, situations, trigrams
from conformance.cases.schedule.question import NAME, ScheduleCase, load_question, save_question, schedule_id
from conformance.generate import choices
from conformance.generate.choices import Choice, Draw, Factor
from conformance.generate.deal import dealing
from conformance.generate.domains import TABLE_GRAPHS
from conformance.generate.graphs.meeting_graphs import meeting_graphs
from conformance.generate.graphs.scheduled import graphs
from conformance.generate.sharded.hazards import hazards
from conformance.generate.suites import DOMAINS
from conformance.judging.applicability import specificity
from conformance.judging.clause import Held, Outcome
from conformance.judging.schedules.program_graph import NoGraph, program_graph
from conformance.judging.subject import Subject
from conformance.judging.verdict import Verdict
from conformance.runner.coverage.interactions import Interactions, Table
from conformance.runner.dialect import Dialect, DialectSuite, Dialogue, Facts
from conformance.runner.dialects import spmd
from conformance.runner.dialects.schedule_inquiry import UNASKED, JudgedSchedule, MissingSchedule, inquiry
from conformance.runner.meaning import meaning
from conformance.runner.records.record import Covered
from conformance.runner.reductions.graphs import graph_reductions
from conformance.runner.reductions.leaps import graph_leaps, program_leaps
from conformance.runner.reductions.programs import reductions
from conformance.runner.worker.answers import BrokenOutcome
from conformance.specs.schedules import CLAUSE_BY_ID
from conformance.specs.schedules.answers import ANSWERED, ANSWERED_AGAIN

PROGRAM: Final = "schedule_of_program"
GRAPH: Final = "schedule_of_graph"
"""The operations that cases are recorded under."""


def _on_storage(domain: Choice[Case]) -> Choice[Case]:
    """Return a domain of programs with effects, of which operands are storage: it may be written while peers read."""

    def make(draw: Draw) -> Case:
        levels: dict[Factor, str] = {"layout": "input", "view": "", **draw.goals.levels}
        return domain.make(replace(draw, goals=replace(draw.goals, levels=levels)))

    return Choice(make)


_WITH_EFFECTS: Final = tuple(domain for suite in ("aliasing", "async") for domain in DOMAINS[suite].values())

SCHEDULED_PROGRAMS: Final[Choice[Case]] = Choice(
    choices.one_of(*_WITH_EFFECTS, *DOMAINS["collectives"].values(), *map(_on_storage, _WITH_EFFECTS)).make,
    "schedules schedule_of_program",
)
"""Programs of every operation: three of four have effects, and half of these have storage for operands."""

CLAUSES: Final = tuple(CLAUSE_BY_ID.values())


@choices.composite
def sharded_graphs(draw: Draw) -> Graph:
    """Draw a program that reads and writes storage in parts, as one graph over the devices that hold these."""
    whole, _ = lowered(draw(hazards()))
    return whole.graph


GRAPHS: Final[Choice[Graph]] = dealing(
    "schedules schedule_of_graph",
    choices.one_of(*[graphs()] * 4, sharded_graphs(), meeting_graphs()),
    row=TABLE_GRAPHS,
)
"""Graphs of the grammar, some over shards, some of meetings side by side, and rows of the table of graphs."""


@dataclass(frozen=True)
class ScheduleSubject:
    """What a schedule is asked for, its graph, and, of a program, what that means."""

    case: ScheduleCase
    graph: Graph
    program: Subject | None = None


def mean(case: ScheduleCase) -> ScheduleSubject | None:
    """Return the graph that schedules of the case are judged by; ``None`` for a program that has none."""
    if isinstance(case.of, Graph):
        return ScheduleSubject(case, case.of)
    try:
        graph = program_graph(case.of)
    except NoGraph:
        return None
    return ScheduleSubject(case, graph, meaning(case.of))


def facts(asked: ScheduleSubject) -> Facts:
    """Return what a record says of the case: of a program what it says of that."""
    if asked.program is not None:
        return _scheduled(spmd.facts(asked.program))
    nodes = asked.graph.nodes
    dtypes = sorted({node.dtype for node in nodes})
    return Facts(GRAPH, (GRAPH,), "+".join(dtypes), len({node.device for node in nodes}), features={GRAPH: {}})


def _scheduled(known: Facts) -> Facts:
    """Return the facts of a program of which the schedule is asked: a claim of its own, beside those of its steps."""
    return replace(known, op=PROGRAM, ops=(*known.ops, PROGRAM), features={**known.features, PROGRAM: {}})


def dialogue(asked: ScheduleSubject, terms: Terms) -> Dialogue:
    """Ask for a schedule, and for those that have to agree with it; every backend is held to the same clauses."""
    del terms
    judged = yield from inquiry(asked.case.of, asked.graph)
    return verdict(judged, claimed=asked.program is not None)


def verdict(judged: JudgedSchedule, *, claimed: bool) -> Verdict:
    """Return what came of a case as a verdict. What breaks only a *may* fails nothing.

    What claims are about may be ``claimed``, and is then not to be refused: programs are, graphs are not.
    """
    if judged.missing is not None:
        return _missing(judged.missing, claimed=claimed)
    held: dict[str, Held] = {ANSWERED.id: "held"}
    if judged.second:
        held[ANSWERED_AGAIN.id] = "held"
    held |= {each.clause: _held(each.finding) for each in judged.found if each.finding != "silent"}
    broken = [(CLAUSE_BY_ID[each.clause], each.detail) for each in judged.found if each.finding == "broken"]
    for way, detail in judged.troubles.items():
        # Of a clause that a second schedule breaks itself, the way ends with it.
        clause = CLAUSE_BY_ID.get(way.partition(" ")[2], ANSWERED_AGAIN)
        held[clause.id] = "broken"
        broken.append((clause, detail))
    failing = [pair for pair in broken if pair[0].requirement != "may"]
    note = "; ".join(judged.notes) or None
    if not failing:
        return Verdict(outcome="passed", clauses=held, note=note)
    blame, detail = max(failing, key=lambda pair: specificity(pair[0], CLAUSES))
    return Verdict(outcome="failed", clauses=held, blame=blame, detail=detail, note=note)


def _held(finding: str) -> Held:
    return "held" if finding == "held" else "broken"


def _missing(missing: MissingSchedule, *, claimed: bool) -> Verdict:
    if missing.outcome == "refused" and not claimed:
        return Verdict(outcome="unsupported", clauses={}, detail=missing.detail)
    if missing.outcome in UNASKED:
        return Verdict(outcome=_outcome(missing.outcome), clauses={}, detail=missing.detail)
    clause = CLAUSE_BY_ID.get(missing.clause or "", ANSWERED)
    return Verdict(
        outcome=_outcome(missing.outcome),
        clauses={clause.id: "broken"},
        blame=clause,
        detail=missing.detail,
        error=missing.error,
        refusal=missing.outcome == "refused",
    )


def _outcome(word: str) -> Outcome:
    known: dict[str, Outcome] = {
        "adapter_error": "adapter_error",
        "malformed": "failed",
        **{o: o for o in get_args(BrokenOutcome)},
    }
    return known.get(word, "errored")


def size(case: ScheduleCase) -> tuple[int, ...]:
    """Return how large a case is: ranks or nodes first, at the end the characters of its text."""
    asked = case.of
    if isinstance(asked, Case):
        blocks = [block for operand in asked.inputs.values() for block in operand.blocks]
        layouts = [layout for operand in asked.inputs.values() for layout in operand.layouts]
        data = sum(len(block.bits) + len(block.shape) for block in blocks)
        strange = sum(each != "contiguous" for each in layouts)
        text = msgspec.json.encode(asked.program)
        return (asked.program.world, len(asked.program.steps), data, strange, len(asked.program.results), len(text))
    devices = {node.device for node in asked.nodes}
    elements = sum(extent for node in asked.nodes for extent in sizes(node.shape, asked.most))
    ranges = sum(variable.high - variable.low for variable in asked.variables.values())
    length = len(msgspec.json.encode(asked))
    return len(asked.nodes), len(devices), len(asked.results), len(asked.variables), elements, ranges, length


def smaller(case: ScheduleCase) -> Iterator[ScheduleCase]:
    """Yield what is one listed reduction smaller."""
    found: Iterator[Case | Graph] = reductions(case.of) if isinstance(case.of, Case) else graph_reductions(case.of)
    yield from (ScheduleCase(of=each) for each in found)


def leaps(case: ScheduleCase) -> Iterator[ScheduleCase]:
    """Yield what is smaller by much."""
    found: Iterator[Case | Graph] = program_leaps(case.of) if isinstance(case.of, Case) else graph_leaps(case.of)
    yield from (ScheduleCase(of=each) for each in found)


_TABLE: Final = Table(FEATURES, CLASSES, EXCLUDED)


@dataclass(frozen=True)
class ScheduleCounts:
    """Counts which features of graphs, and which steps, met in those that were drawn."""

    met: Interactions = field(default_factory=lambda: Interactions(_TABLE))

    def add(self, asked: ScheduleSubject) -> None:
        """Count one graph; programs are counted where they are run."""
        if asked.program is None:
            self.met.add(situations(asked.graph), trigrams(asked.graph))

    def measured(self) -> dict[str, Covered]:
        """Return the shares of pairs, triples and trigrams, with their largest holes."""
        return self.met.measured(" of graphs")


def _asked_of(domain: Choice[Case] | Choice[Graph]) -> Choice[ScheduleCase]:
    """Return the domain of schedule cases whose draws are those of a domain: its name tells which they are."""
    return Choice(lambda draw: ScheduleCase(of=domain.make(draw)), domain.name)


def _nothing(ops: Sequence[str], suites: Sequence[str]) -> frozenset[str]:
    """Expect no clause to speak: what they are about is in the answers alone."""
    del ops, suites
    return frozenset()


SUITE: Final = DialectSuite(
    "schedules",
    "What a backend makes of programs and graphs: the order, storage and bodies of its schedules.",
    {PROGRAM: _asked_of(SCHEDULED_PROGRAMS), GRAPH: _asked_of(GRAPHS)},
    share=0.5,
)

DIALECT: Final = Dialect(
    name=NAME,
    summary="Schedules that backends make of programs and graphs.",
    case=ScheduleCase,
    id_of=schedule_id,
    save=save_question,
    load=load_question,
    suites={SUITE.name: SUITE},
    mean=mean,
    facts=facts,
    clauses=lambda op, terms: CLAUSES,
    own=lambda op, terms: CLAUSES,
    speaking=lambda asked: frozenset(),
    expected=_nothing,
    dialogue=dialogue,
    probed=lambda claims, asked: False,
    features={},
    reductions=smaller,
    neutral=lambda case: iter(()),
    size=size,
    leaps=leaps,
    length=lambda case: len(case.of.program.steps if isinstance(case.of, Case) else case.of.nodes),
    counting=ScheduleCounts,
    one_at_a_time=True,
    dear=True,
    answered=True,
)
