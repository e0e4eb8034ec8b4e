"""What is long is first cut to what the wrong value depends on, then halved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.cases.case import Case
from conformance.judging.verdict import Verdict
from conformance.runner.dialects import dialect_of, operations, trial
from conformance.runner.drawn_again import drawn_again
from conformance.runner.records.origin import Origin
from conformance.runner.reductions.leaps import program_leaps
from conformance.runner.shrinking.shrinking import Shrinking

GRAPHS = [("graphs", "graph"), ("sharding", "sharded"), ("schedules", "schedule_of_graph")]


def nodes(case: Any) -> tuple[Any, ...]:
    """Return the nodes of a graph, of a program on sharded tensors, or of a graph that is scheduled."""
    of = getattr(case, "of", case)
    graph = getattr(of, "graph", of)
    return tuple(graph.nodes)


def long_case(suite: str, op: str, least: int) -> Any:
    """Return the first draw with so many nodes that anything is computed in."""
    for number in range(1, 400):
        case = drawn_again(Origin(suite, op, 0, number))
        found = trial(case)
        if found is not None and found.facts.legal and len(nodes(case)) >= least:
            return case
    raise AssertionError("no draw is so long")


def searched(case: Any, op: str, fails: Callable[[Any], bool]) -> tuple[Any, int]:
    """Return the smallest case that ``fails``, and how many were asked about."""
    dialect = dialect_of(case)
    clauses = operations()[op].clauses(op, _terms())
    blame = next(clause for clause in clauses if clause.requirement == "must")
    broken = Verdict(outcome="failed", clauses={blame.id: "broken"}, blame=blame, detail="wrong")
    asked: list[str] = []

    def ask(one: Any) -> Verdict:
        if trial(one) is None:
            raise ValueError("no case")
        asked.append(dialect.id_of(one))
        return broken if fails(one) else Verdict(outcome="passed", clauses={})

    search = Shrinking(dialect, broken, clauses, ask, lambda: False)
    return search.smallest(case, None, 0).case, len(asked)


def _terms() -> Any:
    from conformance.cases.declarations.terms import Terms

    return Terms()


@pytest.mark.parametrize(("suite", "op"), GRAPHS)
def test_a_long_graph_comes_down_to_a_few_nodes(suite: str, op: str) -> None:
    case = long_case(suite, op, 24)
    kinds = [node.op + str(node.arg) for node in nodes(case) if node.op == "alu"]
    rare = min(kinds, key=kinds.count)
    small, asked = searched(case, op, lambda one: any(node.op + str(node.arg) == rare for node in nodes(one)))
    assert len(nodes(small)) <= 12
    assert asked < 400


def test_each_collective_of_a_program_stands_alone_among_its_leaps() -> None:
    for number in range(1, 200):
        case = drawn_again(Origin("collectives", "all_reduce", 0, number))
        found = trial(case)
        if isinstance(case, Case) and found is not None and found.facts.legal and len(case.program.steps) >= 4:
            leaps = [one for one in program_leaps(case) if trial(one) is not None]
            assert any(len(one.program.steps) == 1 for one in leaps)
            assert all(len(one.program.steps) < len(case.program.steps) for one in leaps[:1])
            return
    raise AssertionError("no program of four steps was drawn")


def test_what_was_asked_once_is_not_asked_again() -> None:
    case = long_case("graphs", "graph", 16)
    asked: list[str] = []

    def fails(one: Any) -> bool:
        asked.append(dialect_of(one).id_of(one))
        return len(nodes(one)) > 8

    searched(case, "graph", fails)
    assert len(asked) <= len({*asked}) + 1  # the first, once more for its verdict
