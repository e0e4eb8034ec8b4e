"""The meaning of a graph case: eager evaluation of its nodes in list order, round by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import LEAVES, MOVEMENT, Graph, Node
from conformance.cases.graph.misfits import ASSIGNS, CALLS, MEETS, MOVES, misfit_kind
from conformance.cases.graph.validate import validate_graph
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import to_array
from conformance.reference.graph.bounds import Reals, Slack, ends_of, slack_after
from conformance.reference.graph.movement import Stored, moved, stored_in
from conformance.reference.graph.nodes import computed, inside, leaf
from conformance.reference.graph.rounding import Span
from conformance.reference.graph.slack import exact, slack_of, unsettled
from conformance.reference.rejection import Rejected

UNFIT = {MOVES: "graph.C4", ASSIGNS: "graph.C43", CALLS: "graph.C44", MEETS: "graph.C45"}
"""The clause by which a node without a meaning is refused, by its kind."""
"""The clause that movement breaks which leaves its source."""


@dataclass(frozen=True)
class BoundedValue:
    """A value, and how far apart right ones may be."""

    array: Array
    slack: Slack


Meaning = Stored | BoundedValue
"""What a node is: a name of storage, or a value."""


@dataclass
class Evaluation:
    """A case being evaluated: what buffers hold, as flat arrays, what nodes are, and the results so far by key.

    ``undefined`` names the first node that takes an index which is no element's, or need not be one.
    """

    graph: Graph
    storages: dict[str, BoundedValue]
    values: Values
    meanings: dict[str, Meaning] = field(default_factory=dict)
    others: dict[str, tuple[Meaning, ...]] = field(default_factory=dict)
    results: dict[str, BoundedValue] = field(default_factory=dict)
    undefined: str = ""

    def value_of(self, meaning: Meaning) -> BoundedValue:
        """Return what a node means now."""
        return value_of(meaning, self)


def evaluate(case: GraphCase) -> dict[str, BoundedValue]:
    """Return the value of every result of a case, by its key; raise as ``run`` does."""
    return run(case).results


def run(case: GraphCase) -> Evaluation:
    """Return a case evaluated.

    Raise ``CaseError`` for a case that is malformed, and ``Rejected`` for movement that leaves its source, or for a
    source that does not fit.
    """
    unfit = validate_graph(case)
    if unfit:
        name, problem = next(iter(unfit.items()))
        node = next(node for node in case.graph.nodes if node.id == name)
        raise Rejected(UNFIT[misfit_kind(node)], f"node {name!r}: {problem}")
    return evaluated(case)


def evaluated(case: GraphCase, then: Callable[[Node, Evaluation], None] | None = None) -> Evaluation:
    """Return a legal case evaluated; ``then`` is told of each node that was listed, and may change what it means."""
    within = Evaluation(case.graph, {name: _given(to_array(each)) for name, each in case.buffers.items()}, {})
    for number, each in enumerate(case.rounds):
        within.storages |= {name: _given(to_array(tensor)) for name, tensor in each.writes.items()}
        within.values = case.bound(number)
        for node in case.listed(number):
            take(node, within)
            if then is not None:
                then(node, within)
        for name in each.asked:
            within.results[asked_key(number, name)] = value_of(within.meanings[name], within)
        for name in each.read:
            found = within.storages[name]
            shape = case.buffers[name].shape
            within.results[read_key(number, name)] = _whole(found, shape)
    return within


def take(node: Node, within: Evaluation) -> None:
    """Evaluate one node, whose sources are evaluated."""
    of = [within.meanings[source] for source in node.of]
    found: Meaning
    if node.op == "buf":
        found = stored_in(str(node.arg), sizes(node.shape, within.values))
    elif node.op in LEAVES:
        array = leaf(node, within.values)
        found = BoundedValue(array, exact(array))
    elif node.op in MOVEMENT:
        found = _moved(node, of[0], within.values)
    elif node.op == "assign":
        assert isinstance(of[0], Stored)
        _assign(of[0], value_of(of[1], within), within)
        found = of[0]
    elif node.op == "item":
        found = within.others[node.of[0]][int(str(node.arg)) - 1]
    elif node.op == "call":
        found, *others = _called(node, of, within)
        within.others[node.id] = tuple(others)
    else:
        taken = [value_of(meaning, within) for meaning in of]
        arrays = [each.array for each in taken]
        array = computed(node, arrays)
        found = BoundedValue(array, slack_of(node, arrays, [each.slack for each in taken], array))
        if node.op == "gather" and not within.undefined and not inside(node, arrays):
            within.undefined = f"node {node.id!r} takes an index that is no element's"
        if node.op == "gather" and not within.undefined and unsettled(taken[1].slack):
            within.undefined = f"node {node.id!r} takes an index that may be another"
    within.meanings[node.id] = found


def value_of(meaning: Meaning, within: Evaluation) -> BoundedValue:
    """Return what a node means now."""
    if isinstance(meaning, BoundedValue):
        return meaning
    held, inside = within.storages[meaning.buffer], meaning.inside

    def shown(part: NDArray[Any]) -> NDArray[Any]:
        if meaning.everywhere:
            return np.asarray(part[meaning.at])
        out = np.zeros(meaning.at.shape, part.dtype)
        out[inside] = part[meaning.at[inside]]
        return out

    return _each(held, shown)


def _given(array: Array) -> BoundedValue:
    """Return the content of a buffer, flat."""
    flat = array.reshape(-1)
    return BoundedValue(flat, exact(flat))


def _whole(held: BoundedValue, shape: tuple[int, ...]) -> BoundedValue:
    """Return the content of a buffer in its shape."""
    return _each(held, lambda part: part.reshape(shape).copy())


def _each(held: BoundedValue, change: Callable[[NDArray[Any]], NDArray[Any]], span: Span | None = None) -> BoundedValue:
    """Return a value, and what is known of it, with every part changed alike; ``span`` is that of the result."""
    array, slack = change(held.array), held.slack
    mask = change(slack.mask) if slack.bits else np.zeros(array.shape, np.uint16)
    ends = slack.ends and (lambda: (change(ends_of(slack)[0]), change(ends_of(slack)[1])))
    return BoundedValue(array, slack_after([slack], mask, lambda: (change(slack.k), change(slack.m)), span, ends))


def _moved(node: Node, first: Meaning, values: Values) -> Meaning:
    if isinstance(first, Stored):
        return Stored(first.buffer, moved(node, first.at, -1, values))
    span = first.slack.span
    if span is not None:
        # What a pad adds is a multiple of everything.
        span = moved(node, span[0], np.inf, values), moved(node, span[1], 0, values)
    return _each(first, lambda part: moved(node, part, 0, values), span)


def _assign(target: Stored, value: BoundedValue, within: Evaluation) -> None:
    held = within.storages[target.buffer]

    def written(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        out = old.copy()
        out[target.at] = new
        return out

    def ends() -> tuple[Reals, Reals]:
        low, high = zip(ends_of(before), ends_of(after), strict=True)
        return written(*low), written(*high)

    before, after = held.slack, value.slack
    slack = slack_after(
        [before, after],
        written(before.mask, after.mask),
        lambda: (written(before.k, after.k), written(before.m, after.m)),
        ends=ends if before.ends or after.ends else None,
    )
    within.storages[target.buffer] = BoundedValue(written(held.array, value.array), slack)


def _called(node: Node, of: list[Meaning], within: Evaluation) -> list[Meaning]:
    """Return what a function gives for its arguments."""
    function = within.graph.functions[str(node.arg)]
    inner = replace(within, meanings={}, others={})
    for each in function.nodes:
        if each.op == "param":
            inner.meanings[each.id] = of[int(str(each.arg))]
        else:
            take(each, inner)
    return [inner.meanings[name] for name in function.results]
