"""A source that does not fit is refused, by a clause of its own, and values that are given for it break that clause."""

from __future__ import annotations

import pytest

from conformance.cases.case_error import CaseError
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.features import graph_features
from conformance.cases.graph.graph import Function, Graph, Node
from conformance.cases.observation import Observation, RankError
from conformance.cases.tensor.tensor import Tensor
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.judging.verdict import Verdict
from conformance.qualification.graph_mutants import MUTANTS, tried
from conformance.specs.graphs import CLAUSES

TWO = Tensor(dtype="int32", shape=(2,), bits="0100000002000000")
THREE = Tensor(dtype="int32", shape=(3,), bits="010000000200000003000000")
HALVES = Tensor(dtype="float16", shape=(2,), bits="003c0040")


def case(op: str, *buffers: Tensor, device: str = "d0", parameters: int = 0, shift: int = 0, **rest: str) -> GraphCase:
    names = [f"b{number}" for number in range(len(buffers))]
    nodes = [
        Node(id=name, op="buf", shape=held.shape, dtype=held.dtype, device=device if name == "b1" else "d0", arg=name)
        for name, held in zip(names, buffers, strict=True)
    ]
    taken = tuple(
        Node(id=f"p{number}", op="param", shape=(2,), dtype="int32", device="d0", arg=number + shift)
        for number in range(parameters)
    )
    function = {"f": Function(nodes=taken, result="p0")} if parameters else {}
    made = Node(id="y", op=op, of=tuple(names), shape=(2,), dtype="int32", device="d0", **rest)  # type: ignore[arg-type]
    graph = Graph(nodes=(*nodes, made), results=("y",), functions=function)
    held = dict(zip(names, buffers, strict=True))
    return GraphCase(graph=graph, buffers=held, rounds=(Round(until=len(nodes) + 1, asked=("y",)),))


MISFITS = {
    "assigned shape": ("graph.C43", case("assign", TWO, THREE)),
    "assigned dtype": ("graph.C43", case("assign", TWO, HALVES)),
    "too few arguments": ("graph.C44", case("call", TWO, parameters=2, arg="f")),
    "too many arguments": ("graph.C44", case("call", TWO, TWO, parameters=1, arg="f")),
    "argument's shape": ("graph.C44", case("call", TWO, THREE, parameters=2, arg="f")),
    "argument's dtype": ("graph.C44", case("call", TWO, HALVES, parameters=2, arg="f")),
    "numbers": ("graph.C44", case("call", TWO, parameters=1, shift=1, arg="f")),
    "devices": ("graph.C45", case("alu", TWO, TWO, device="d1", arg="add")),
}


def verdict(made: GraphCase, seen: Observation) -> Verdict:
    return judge_graph(graph_meaning(made), seen, CLAUSES, STANDARD)


@pytest.mark.parametrize("name", MISFITS)
def test_what_gives_values_for_a_misfit_breaks_its_clause_alone(name: str) -> None:
    clause, made = MISFITS[name]
    found = verdict(made, Observation(results={"0/y": (TWO,)}))
    assert [id for id, held in found.clauses.items() if held == "broken"] == [clause]
    assert graph_features(made)["misfit"] != {"none"}


@pytest.mark.parametrize("name", MISFITS)
def test_what_refuses_a_misfit_holds_its_clause(name: str) -> None:
    clause, made = MISFITS[name]
    found = verdict(
        made, Observation(errors=(RankError(category="invalid_argument", kind="ValueError", message="no"),))
    )
    assert found.clauses[clause] == "held"


@pytest.mark.parametrize("name", MISFITS)
def test_a_process_that_ended_refused_no_misfit(name: str) -> None:
    clause, made = MISFITS[name]
    found = verdict(made, Observation(errors=(RankError(category="no_answer", kind="Crash", message="signal 11"),)))
    assert (found.outcome, found.clauses[clause], found.clauses.get("graph.C5")) == ("failed", "broken", None)


def test_an_assign_that_is_not_what_its_target_is_says_nothing() -> None:
    with pytest.raises(CaseError, match="its target int32"):
        graph_meaning(case("assign", THREE, TWO))


def test_sources_that_fit_have_a_meaning() -> None:
    fitting = (case("assign", TWO, TWO), case("call", TWO, parameters=1, arg="f"), case("alu", TWO, TWO, arg="add"))
    assert all(graph_meaning(each).legal for each in fitting)
    assert all(graph_features(each)["misfit"] == {"none"} for each in fitting)


@pytest.mark.parametrize("name", MISFITS)
def test_who_makes_sources_fit_dies_by_the_clause_of_the_misfit(name: str) -> None:
    clause, made = MISFITS[name]
    (walk,) = (each for each in MUTANTS.values() if getattr(each, "unrefused", "") == clause)
    found = tried(walk, graph_meaning(made))
    assert found.blame is not None
    assert (found.outcome, found.blame.id) == ("failed", clause)
