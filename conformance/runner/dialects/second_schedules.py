"""Which other schedules are asked for, of what keeps every *must* alone, and how each question differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Step
from conformance.cases.schedule.schedule import Collective
from conformance.cases.tensor.dtypes import kind
from conformance.judging.schedules.clause import Relation
from conformance.judging.schedules.program_graph import NoGraph, program_graph
from conformance.reference.schedule.facts import Facts
from conformance.runner.worker.answers import Question

ProgramOrGraph = Case | Graph

SECOND: Final[Mapping[Relation, str]] = {
    "cached": "again in the same process",
    "again": "again in another process",
    "dropped": "with a node that nothing needs",
    "reordered": "for its results the other way round",
    "together": "for one result and the rest apart",
    "unplanned": "without a memory plan",
    "rebound": "with other values for its variables",
    "switched": "with passes for communication the other way",
    "estimated": "with random estimates of costs",
    "rerun": "for a later iteration",
    "neighbours": "after another program in the same process",
    "afterwards": "for what is left once it has been run",
}
"""What is asked for again, of what keeps every *must* alone."""

OPTIONAL: Final = ("unplanned", "afterwards", "switched", "estimated", "rerun", "neighbours")
"""What a backend may refuse: not each has a memory plan to turn off, nor keeps values that it computed, nor has passes
for communication, a cost model or memory that lasts; and another program may have a step for which it has no words."""

SEED: Final = 1
"""Where random estimates of costs begin."""

LATER: Final = 2
"""The iteration that is compared with the first: of two that take turns with buffers both would look alike."""


def seconds(asked: ProgramOrGraph, first: Facts) -> Iterator[tuple[Relation, tuple[Question, ...]]]:
    """Yield each relation with the questions for its schedules: what is run last, for it may leave something behind.

    Communication is asked about where the ``first`` schedule has any.
    """
    lasting = any(each.allocation for each in first.schedule.buffers)
    if lasting:
        yield "rerun", (Question(asked, iteration=LATER),)
    yield "cached", (Question(asked),)
    yield "again", (Question(asked),)
    other = with_idle_node(asked)
    if other is not None:
        yield "dropped", (Question(other),)
    results = asked.program.results if isinstance(asked, Case) else asked.results
    if len(results) > 1:
        yield "reordered", (Question(_of(asked, results[::-1])),)
        yield "together", (Question(_of(asked, results[:1])), Question(_of(asked, results[1:])))
    yield "unplanned", (Question(asked, planned=False),)
    other = _rebound(asked)
    if other is not None:
        yield "rebound", (Question(other),)
    yield from _of_communication(asked, first, lasting=lasting)
    yield "afterwards", (Question(asked, after=True),)


def _of_communication(
    asked: ProgramOrGraph, first: Facts, *, lasting: bool
) -> Iterator[tuple[Relation, tuple[Question, ...]]]:
    if not any(isinstance(item, Collective) and len(item.participants) > 1 for item in first.schedule.items):
        return
    yield "switched", (Question(asked, switched=True),)
    yield "estimated", (Question(asked, costs=SEED),)
    other = neighbour(asked)
    if other is not None and (lasting or first.handles):
        yield "neighbours", (Question(other),)


def neighbour(asked: ProgramOrGraph) -> Case | None:
    """Return the program with maxima in the place of sums, and one sum more, of twice its first input.

    Return ``None`` for a graph, where some input has numbers without an order, and where that has no meaning: of blocks
    of several shapes there is no sum.
    """
    if not isinstance(asked, Case):
        return None
    dtypes = {block.dtype for operand in asked.inputs.values() for block in operand.blocks}
    if not dtypes or any(kind(dtype) not in ("float", "integer") for dtype in dtypes):
        return None
    program, first = asked.program, next(iter(asked.inputs))
    steps = tuple(
        replace(step, attrs={**step.attrs, "op": "max"}) if step.attrs.get("op") == "sum" else step
        for step in program.steps
    )
    own, summed = f"{first} beside", f"{first} summed beside"
    more = (
        Step(op="alu", inputs=(first, first), outputs=(own,), axes=(), attrs={"op": "add"}),
        Step(
            op="all_reduce",
            inputs=(own,),
            outputs=(summed,),
            axes=tuple(axis.name for axis in program.mesh),
            attrs={"op": "sum"},
        ),
    )
    changed = replace(program, steps=(*steps, *more), results=(*program.results, summed))
    other = replace(asked, program=changed)
    try:
        program_graph(other)
    except (NoGraph, CaseError):
        return None
    return other


def another_graph(asked: ProgramOrGraph, relation: Relation) -> bool:
    """Return whether the second question is a graph of its own, which a backend may have no words for."""
    return relation == "together" and isinstance(asked, Graph)


def _of(asked: ProgramOrGraph, results: tuple[str, ...]) -> ProgramOrGraph:
    """Return the same question for other results."""
    if isinstance(asked, Case):
        return replace(asked, program=replace(asked.program, results=results))
    return replace(asked, results=results)


def with_idle_node(asked: ProgramOrGraph) -> Graph | None:
    """Return the same graph with a consumer of its last computed value which nothing needs, if it has such a value."""
    if isinstance(asked, Case):
        return None
    values = [node for node in asked.nodes if node.op in ("alu", "reduce") and kind(node.dtype) in ("float", "integer")]
    if not values:
        return None
    last = values[-1]
    idle = Node(
        id=f"{last.id} dropped", op="alu", of=(last.id,), shape=last.shape, dtype=last.dtype, device=last.device,
        arg="neg",
    )  # fmt: skip
    return replace(asked, nodes=(*asked.nodes, idle))


def _rebound(asked: ProgramOrGraph) -> Graph | None:
    """Return the same graph with another value for every variable that may have one, if any may."""
    if isinstance(asked, Case) or all(each.low == each.high for each in asked.variables.values()):
        return None
    others = {
        name: replace(each, value=each.high if each.value < each.high else each.low)
        for name, each in asked.variables.items()
    }
    return replace(asked, variables=others)
