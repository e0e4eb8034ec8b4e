"""Whole tables of movement, numbers and storage in time are dealt over a run, each entry to one case."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.elementwise import ARITY
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.runner.draws import numbered
from conformance.runner.plan import EXAMPLES
from conformance.specs.domains.steering.seldom_draws import EVERY, SECOND
from conformance.specs.graphs import CLAUSES
from conformance.specs.graphs.domain.cases import graph_cases
from conformance.specs.graphs.domain.neighbours import constants, steps, versions
from conformance.specs.graphs.domain.neighbours.numbers import COMPLEX, NUMBERS
from conformance.specs.graphs.domain.neighbours.table import ALONE, TABLES, TURNS, dealt
from conformance.specs.schedules.domain.graph_words import taking


def _nodes(turn: int) -> dict[str, Node]:
    case, _ = numbered(graph_cases(), turn, SECOND + EVERY * turn)
    return {node.id: node for node in case.graph.nodes}


@pytest.mark.parametrize("turn", range(TURNS))
def test_shares_of_tables_are_legal_and_the_oracle_passes_them(turn: int) -> None:
    case, _ = numbered(graph_cases(), turn, SECOND + EVERY * turn)
    subject = graph_meaning(case)
    assert subject.legal
    assert not subject.undefined
    verdict = judge_graph(subject, Reference().graph(case), CLAUSES, STANDARD)
    assert verdict.outcome == "passed", verdict.detail


def test_a_run_has_every_entry_once() -> None:
    assert len(range(SECOND, EXAMPLES, EVERY)) == TURNS
    shares = len(TABLES)
    for at, table in enumerate(TABLES):
        found = Counter(number for turn in range(at, TURNS, shares) for number, _ in dealt(turn) if number < len(table))
        assert found == Counter(range(len(table)))
    extra = [entry for _, entry in dealt(TURNS - 1) if entry in versions.VARIABLES]
    assert extra == [*versions.VARIABLES]


def test_dtypes_that_many_have_not_are_in_two_cases_of_numbers() -> None:
    held = [{node.dtype for node in _nodes(turn).values()} for turn in range(1, TURNS, len(TABLES))]
    assert not set().union(*held[:-2]).intersection(ALONE)
    assert not held[-2].intersection({*ALONE} - {*COMPLEX})
    assert set().union(*held) >= {*NUMBERS, *ALONE}


def test_every_two_movements_meet_in_either_order() -> None:
    met = set()
    for turn in range(0, TURNS, len(TABLES)):
        nodes = _nodes(turn)
        met |= {(nodes[node.of[0]].op, node.op) for node in nodes.values() if node.op in MOVEMENT}
    moves = {"reshape", "permute", "expand", "pad", "shrink", "stride", "flip"}
    # What is repeated was moved to have an extent of one first.
    assert met >= {(one, other) for one in moves for other in moves - {"expand"}}


def test_every_two_conversions_meet() -> None:
    met = set()
    for turn in range(1, TURNS, len(TABLES)):
        nodes = _nodes(turn)
        casts = [node for node in nodes.values() if node.op == "cast" and nodes[node.of[0]].op == "cast"]
        met |= {(nodes[nodes[node.of[0]].of[0]].dtype, nodes[node.of[0]].dtype, node.dtype) for node in casts}
    assert len(met) == 11 * 10 * 10
    for narrow in ("float16", "bfloat16"):
        assert {("float64", "float32", narrow), ("float32", narrow, "float32"), ("float64", narrow, "float64")} <= met


def test_results_are_converted_and_bits_are_read_of_every_dtype() -> None:
    widened, read, known = set(), set(), set()
    for turn in range(1, TURNS, len(TABLES)):
        nodes = _nodes(turn)
        for node in nodes.values():
            of = [nodes[name] for name in node.of]
            if node.op == "cast" and of[0].op == "alu":
                widened.add((of[0].arg, of[0].dtype, node.dtype))
            if node.op in ("bitcast", "cast") and of[0].op in ("cast", "alu", "bitcast"):
                read.add((of[0].op, node.op))
            if node.op == "alu" and node.arg == "where" and {"const"} & {each.op for each in of[1:]}:
                known.add((node.dtype, *(each.op == "const" for each in of[1:])))
    assert {(word, *pair) for word in ("add", "mul", "shl") for pair in steps.WIDER[:6]} <= widened
    assert {("cast", "bitcast"), ("bitcast", "cast"), ("alu", "bitcast"), ("bitcast", "bitcast")} <= read
    sides = ((True, False), (False, True), (True, True))
    assert known >= {(dtype, *side) for dtype in ("float16", "float64", "uint8", "bool") for side in sides}


def test_constants_alone_are_computed_with_and_converted() -> None:
    computed, converted = set(), set()
    for turn in range(1, TURNS, len(TABLES)):
        nodes = _nodes(turn)
        for node in nodes.values():
            of = [nodes[name] for name in node.of]
            if of and {each.op for each in of} == {"const"}:
                computed |= {(node.arg, of[-1].dtype)} if node.op == "alu" else set()
                converted |= {(of[0].dtype, node.dtype)} if node.op == "cast" else set()
    assert computed >= {(word, dtype) for dtype in NUMBERS for word in ARITY if taking(dtype, (word,))}
    assert converted >= {(one, other) for one in constants.CONVERTED for other in constants.CONVERTED if one != other}


def test_storage_is_assigned_twice_with_a_view_read_between() -> None:
    between = set()
    for turn in range(2, TURNS, len(TABLES)):
        nodes = _nodes(turn)
        listed = [*nodes.values()]
        assigns = [at for at, node in enumerate(listed) if node.op == "assign"]
        for first, then in pairwise(assigns):
            one, two = (nodes[nodes[listed[at].id].of[0]] for at in (first, then))
            if _buffer(one, nodes) == _buffer(two, nodes):
                between |= {_buffer(nodes[name], nodes) for node in listed[first + 1 : then] for name in node.of}
    assert len(between - {""}) >= len(versions.TARGETS)


def _buffer(node: Node, nodes: dict[str, Node]) -> str:
    while node.op in MOVEMENT:
        node = nodes[node.of[0]]
    return str(node.arg) if node.op == "buf" else ""
