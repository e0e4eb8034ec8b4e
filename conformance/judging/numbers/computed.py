"""What the results of a program that computes mean: its graph evaluated, with what is known of roundings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case
from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.graph.case import GraphCase, Round, asked_key
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.layout import place
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.judging.numbers.evaluated_with import evaluated_with
from conformance.judging.numbers.order import scales_otherwise
from conformance.judging.schedules.program_graph import NoGraph, program_graph
from conformance.reference.graph.evaluate import BoundedValue, evaluated
from conformance.reference.graph.slack import exact, slack_of
from conformance.reference.operations import OPERATIONS, TABLE


def bounding_values(case: Case, numbers: NumberModel) -> dict[str, list[BoundedValue | None]]:
    """Return what bounds results of which several values are right.

    Nothing does in a number model that saturates, for graphs know that of formats of 8 bits alone; nor where means or
    scaled terms are made otherwise than in their dtype.
    """
    saturates = any(name == "overflow" for _, name, _ in numbers.chosen)
    return {} if saturates or scales_otherwise(case, numbers) else computed_values(case)


def computed_values(case: Case) -> dict[str, list[BoundedValue | None]]:
    """Return what every result of a legal program means on each rank, ``None`` where a rank has none.

    Of a program without a graph nothing is known, but where ranks go their own ways: what each group makes when it
    meets. That of the last case is kept: all clauses ask for it.
    """
    known = _LAST.get("case")
    if known is None or known[0] is not case:
        known = _LAST["case"] = case, _computed_values(case)
    return known[1]


_LAST: Final[dict[str, tuple[Case, dict[str, list[BoundedValue | None]]]]] = {}


def _computed_values(case: Case) -> dict[str, list[BoundedValue | None]]:
    if case.troubled:
        return _met_values(case)
    try:
        graph = program_graph(case)
    except NoGraph:
        return {}
    ranks, listed = range(case.program.world), {node.id for node in graph.nodes}
    names = {name: [f"{name}[{rank}]" for rank in ranks] for name in case.program.results}
    asked = tuple(each for ids in names.values() for each in ids if each in listed)
    found = evaluated(
        GraphCase(graph=graph, buffers=_contents(case, graph), rounds=(Round(until=len(graph.nodes), asked=asked),))
    )
    return {name: [found.results.get(asked_key(0, each)) for each in ids] for name, ids in names.items()}


def _contents(case: Case, graph: Graph) -> dict[str, Tensor]:
    """Return what the storages of the graph hold at first: a buffer what its input holds, which it is written with."""
    sources = {name: name for name in case.inputs} | case.program.buffers
    used = {str(node.arg) for node in graph.nodes if node.op == "buf"}
    found = {}
    for name, source in sources.items():
        operand = case.inputs[source]
        for rank, (block, layout) in enumerate(zip(operand.blocks, operand.layouts, strict=True)):
            if f"{name}[{rank}]" in used:
                found[f"{name}[{rank}]"] = from_array(place(to_array(block), layout)[0])
    return found


def _met_values(case: Case) -> dict[str, list[BoundedValue | None]]:
    """Return the same of a program in which ranks run other steps, are late or die, of those that can go on."""
    inputs = case.blocks()
    known = {id(block): BoundedValue(block, exact(block)) for blocks in inputs.values() for block in blocks}

    def noting(name: str, operand: Sequence[Array], **attrs: Any) -> Any:
        made = OPERATIONS[name](operand, **attrs)
        of = [known.get(id(block)) for block in operand]
        met = [each for each in of if each is not None]
        members = tuple(str(at) for at in range(len(operand)))
        given = {attr: value for attr, value in attrs.items() if attr != "groups"}
        for at, block in enumerate(made if len(met) == len(of) else ()):
            if isinstance(block, np.ndarray):
                node = Node(
                    id="", op="collective", of=members, shape=block.shape, dtype=logical(block.dtype),
                    device=str(at), arg=name, attrs=given, members=members,
                )  # fmt: skip
                slack = slack_of(node, [each.array for each in met], [each.slack for each in met], block)
                known[id(block)] = BoundedValue(block, slack)
        return made

    single = {name: partial(noting, name) for name in OPERATIONS if TABLE[name].operands == 1}
    found = evaluated_with(case, single, inputs=inputs)
    return {
        name: [None if block is None else known.get(id(block)) for block in blocks] for name, blocks in found.items()
    }
