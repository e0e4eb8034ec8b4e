"""Which cases of the dialect ``graph`` say something definite.

Movement that leaves its source (a range beyond an extent, axes that are not there, another number of elements) and
sources that are misfits (``misfits.py``) are well formed and have no meaning: whoever is asked for them refuses them.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase, Round, declared
from conformance.cases.graph.extent import names_in
from conformance.cases.graph.form import check_graph
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.name_length import check_names
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.footprint import MOST_BYTES, check_total, footprint

MOST_NODES: Final = 1 << 18
"""Nodes of a graph: twice the longest chain that is measured."""

MOST_FUNCTIONS: Final = 100
"""Functions of a graph: each may call the next one, and is evaluated inside it."""

MOST_ROUNDS: Final = 1024


def validate_graph(case: GraphCase) -> dict[str, str]:
    """Raise ``CaseError`` unless the case is well formed; return what is wrong with each node that has no meaning."""
    unfit: dict[str, str] = {}
    check_total(sum(footprint(f"buffer {name!r}", each.dtype, each.shape) for name, each in case.buffers.items()))
    check_count(case.graph)
    check_names((*case.buffers, *case.graph.variables))
    check_names(name for node in case.graph.nodes for name in (node.id, node.device, *node.of))
    for name, each in case.graph.variables.items():
        if not 0 <= each.low <= each.value <= each.high < MOST_BYTES:
            raise CaseError(f"variable {name!r}: {each.value} in {each.low} to {each.high} is no value in a range")
    for node in case.graph.nodes:
        if "/" in node.id:
            raise CaseError(f"node {node.id!r}: an id may have no slash")
    try:
        check_graph(case.graph, declared(case), case.graph.most, unfit)
    except ScheduleError as error:
        raise CaseError(f"{error} ({error.clause})") from None
    _check_rounds(case)
    _check_bindings(case)
    return unfit


def check_count(graph: Graph) -> None:
    """Raise ``CaseError`` for more nodes, those of functions included, or functions than are allowed."""
    nodes = len(graph.nodes) + sum(len(function.nodes) for function in graph.functions.values())
    for what, found, most in (("nodes", nodes, MOST_NODES), ("functions", len(graph.functions), MOST_FUNCTIONS)):
        if found > most:
            raise CaseError(f"the graph has {found} {what}; at most {most} are allowed")


def _check_rounds(case: GraphCase) -> None:
    if not 0 < len(case.rounds) <= MOST_ROUNDS:
        raise CaseError(f"there are {len(case.rounds)} rounds; there must be 1 to {MOST_ROUNDS}")
    place = {node.id: at for at, node in enumerate(case.graph.nodes)}
    before = 0
    for number, each in enumerate(case.rounds):
        where = f"round {number}"
        if not before <= each.until <= len(case.graph.nodes):
            raise CaseError(f"{where}: it lists nodes {before} to {each.until} of {len(case.graph.nodes)}")
        before = each.until
        _check_storage(where, case, each)
        for name in each.asked:
            if name not in place:
                raise CaseError(f"{where}: {name!r}, which is asked for, is no node")
            if place[name] >= each.until:
                raise CaseError(f"{where}: {name!r}, which is asked for, is listed in a later round")
        for name, value in each.values.items():
            bounds = case.graph.variables.get(name)
            if bounds is None:
                raise CaseError(f"{where}: variable {name!r} is not declared")
            if not bounds.low <= value <= bounds.high:
                raise CaseError(f"{where}: variable {name!r} is {value}, not {bounds.low} to {bounds.high}")
    if before != len(case.graph.nodes):
        raise CaseError(f"the last round lists {before} nodes of {len(case.graph.nodes)}")
    every = tuple(dict.fromkeys(name for each in case.rounds for name in each.asked))
    if every != case.graph.results:
        raise CaseError(f"the results of the graph are {list(case.graph.results)}; the rounds ask for {list(every)}")


def _check_storage(where: str, case: GraphCase, each: Round) -> None:
    for name in (*each.writes, *each.read):
        if name not in case.buffers:
            raise CaseError(f"{where}: buffer {name!r} is not declared")
    for name, tensor in each.writes.items():
        held = case.buffers[name]
        if (tensor.dtype, tensor.shape) != (held.dtype, held.shape):
            raise CaseError(
                f"{where}: {tensor.dtype} {list(tensor.shape)} is written into buffer {name!r}, which is "
                f"{held.dtype} {list(held.shape)}"
            )
    for names in (each.asked, each.read):
        if len(set(names)) != len(names):
            raise CaseError(f"{where}: something is asked for or read twice")


def _check_bindings(case: GraphCase) -> None:
    """Refuse a node whose source has an extent that another round bound to another value."""
    if not case.graph.variables:
        return
    values: dict[str, dict[str, int]] = {}
    nodes: dict[str, Node] = {}
    for number in range(len(case.rounds)):
        bound = case.bound(number)
        for node in case.listed(number):
            for name in node.of:
                for variable in sorted({each for dim in nodes[name].shape for each in names_in(dim)}):
                    if values[name][variable] != bound[variable]:
                        raise CaseError(
                            f"node {node.id!r}: variable {variable!r} has two values, {bound[variable]} in its round "
                            f"and {values[name][variable]} in that of its source {name!r}"
                        )
            nodes[node.id], values[node.id] = node, bound
