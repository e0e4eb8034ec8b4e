"""The master law: whatever a backend did to a graph, its values are those of eager evaluation."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.tensor.dtypes import kind
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts.seen_bytes import unseen
from conformance.reference.schedule.execute import beside_nan, executable, holdable, law, zero_of_another_sign
from conformance.reference.schedule.facts import Facts


def _runs(facts: Facts) -> bool:
    return executable(facts) is None


_EXTREMES: Final = ("max", "min")


def _compares(facts: Facts) -> bool:
    """Speak of maxima and minima of floats, where the schedule can be run."""
    graph = facts.schedule.graph
    nodes = (*graph.nodes, *(node for each in graph.functions.values() for node in each.nodes)) if graph else ()
    return any(_extreme(node) for node in nodes) and _runs(facts)


def _extreme(node: Node) -> bool:
    words = (node.arg if node.op == "alu" else node.fold, node.attrs.get("op"))
    return kind(node.dtype) == "float" and any(word in _EXTREMES for word in words)


_SIGNED: Final = ("alu", "cast", "bitcast", "contig", "copy", "const", "var", "buf", *MOVEMENT)
"""Of what is made by these alone every zero has a sign: what is folded or met in parts may begin with either."""


def _signed(facts: Facts) -> list[str]:
    """Return the results that are floats with a place, whose zeros have a sign by each operation that made them."""
    loose: set[str] = set()
    for node in facts.nodes.values():
        extreme = node.op == "alu" and node.arg in _EXTREMES
        if node.op not in _SIGNED or extreme or loose.intersection(node.of):
            loose.add(node.id)
    graph = facts.schedule.graph
    placed = {place.node for place in facts.schedule.places}
    results = dict.fromkeys(graph.results if graph else ())
    return [n for n in results if n in placed and n not in loose and kind(facts.nodes[n].dtype) == "float"]


def signs(facts: Facts) -> str | None:
    """Find a zero of another sign than the graph's."""
    return zero_of_another_sign(facts, _signed(facts))


LAW = (
    ScheduleClause(
        "law.C1",
        "A schedule gives each result and alias a right value of its graph, and changes no other earlier byte, in "
        "every order that edges and waits permit. An item without edges follows earlier ones it conflicts with. "
        "Excepted are signs of zeros (`law.C4`) and maxima and minima beside NaN (`law.C2`).",
        "tinygrad.lazy: LazyBuffer.schedule",
        law,
        _runs,
        last=True,
    ),
    ScheduleClause(
        "law.C2",
        "In every value that a schedule gives, a maximum or a minimum of floats, of elements or of a fold, is NaN "
        "where one of them is NaN.",
        "ours",
        beside_nan,
        _compares,
        requirement="should",
        last=True,
    ),
    ScheduleClause(
        "law.C4",
        "A zero that a schedule gives for a result has the sign that the graph gives it, where all nodes that the "
        "result is made of are elementwise operations other than maximum and minimum, movement, contigs, copies, "
        "constants, variables and buffers.",
        "tinygrad.lazy: create_lazybuffer",
        signs,
        lambda facts: _runs(facts) and bool(_signed(facts)),
        requirement="should",
        last=True,
    ),
)


def _cannot_run(facts: Facts) -> bool:
    graph = facts.schedule.graph
    said = bool(facts.writers or facts.schedule.places)
    return graph is not None and said and holdable(facts) and executable(facts) is not None


INFORMATION_FLOW = (
    ScheduleClause(
        "law.C3",
        "Where a schedule cannot be run, as where its kernels are not known, a value that an item makes, or that "
        "a buffer holds at the end, depends on no data from before the schedule except those that its items bring "
        "there.",
        "ours",
        unseen,
        _cannot_run,
        last=True,
    ),
)
