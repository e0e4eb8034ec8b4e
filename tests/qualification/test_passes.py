"""Each mistake in what the native engine does to communication breaks its clause on a program that gives occasion."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isabstract
from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.graph.graph import Graph, Node, Variable
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.schedule.builders import alu, graph, stored
from conformance.cases.schedule.schedule import Schedule, Wait
from conformance.cases.tensor.tensor import from_array
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.qualification.schedule_mutants import calls, communication, passes
from conformance.qualification.schedule_mutants.engine import Engine, Exported
from conformance.runner.dialects.second_schedules import neighbour
from conformance.specs.schedules import judge, judge_two

STEPS: dict[str, Any] = {
    "add": ("alu", (), {"op": "add"}),
    "mul": ("alu", (), {"op": "mul"}),
    "sum": ("all_reduce", ("i",), {"op": "sum"}),
}


def case(extent: int, results: str, *lines: str) -> Case:
    """Return a program: each line a step, its inputs and, behind an arrow, its outputs."""
    steps = []
    for line in lines:
        (name, *given), outputs = (part.split() for part in line.split("->"))
        op, axes, attrs = STEPS[name]
        steps.append(Step(op=op, inputs=tuple(given), outputs=tuple(outputs), axes=axes, attrs=attrs))
    blocks = tuple(from_array(np.arange(extent, dtype=np.int32) + rank) for rank in range(2))
    program = Program(mesh=(Axis("i", 2),), steps=tuple(steps), results=tuple(results.split()))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "contiguous"))})


TWO = ("add x x -> a", "sum a -> p", "mul x a -> b", "sum b -> q", "add p q -> r")

ON: dict[str, Any] = {"shape": (2, 3), "dtype": "int32"}
FOLDED: dict[str, Any] = {"op": "all_reduce", "fold": "add"}
CALLED: tuple[dict[str, Any], ...] = tuple(
    {"op": "collective", "arg": "all_reduce", "attrs": {"op": op}, "members": ("d0", "d1")} for op in ("sum", "max")
)


def on_each(make: Any) -> tuple[Node, ...]:
    """Return what is made for each of two devices, of its number and what its nodes have."""
    return tuple(each for d in range(2) for each in make(d, {**ON, "device": f"d{d}"}))


def sums(*pairs: str, how: Sequence[dict[str, Any]] = (FOLDED,) * 3) -> Graph:
    """Return a graph in which x + x and x * x meet by pairs, one of d0 and one of d1; results are their folds."""
    computed = on_each(
        lambda d, own: (
            stored(f"x{d}", **own),
            alu(f"a{d}", "add", f"x{d}", f"x{d}", **own),
            alu(f"b{d}", "mul", f"x{d}", f"x{d}", **own),
        )
    )
    met = [
        Node(id=f"{pair} {d}", of=tuple(pair.split()), device=f"d{d}", **ON, **each)
        for pair, each in zip(pairs, how, strict=False)
        for d in range(2)
    ]
    return graph(*computed, *met, results=[each.id for each in met])


def of_a_length_that_grows() -> Graph:
    """Return the sum over two devices of x + x, of as many rows as a variable says."""
    rows: dict[str, Any] = {"shape": ("n", 3)}
    nodes = on_each(
        lambda d, own: (
            stored(f"x{d}", **own),
            Node(id=f"s{d}", op="shrink", of=(f"x{d}",), arg=((0, "n"), (0, 3)), **own | rows),
            alu(f"a{d}", "add", f"s{d}", f"s{d}", **own | rows),
            Node(id=f"b{d}", op="contig", of=(f"a{d}",), **own | rows),
        )
    )
    met = on_each(lambda d, own: (Node(id=f"m{d}", of=("b0", "b1"), **own | rows | FOLDED),))
    two = {"n": Variable(low=1, high=2, value=2)}
    return graph(*nodes, *met, results=["m0", "m1"], variables=two)


OCCASIONS: dict[Any, Case | Graph] = {
    communication.RegistersWhatGrows: of_a_length_that_grows(),
    passes.CopiedWithinThePool: sums("a0 a1", "a0 b1", how=CALLED),
    communication.PoolOfAnotherKind: sums("a0 a1"),
    communication.OneRankServesAnOlderBlock: sums("a0 a1", "b0 b1"),
    calls.LoweredOperandByOperand: sums("a0 a1", "b0 b1"),
    calls.LaidOutAnewAfterTracing: sums("a0 a1"),
    calls.SumsOverTheGapsOfRows: sums("a0 a1"),
    passes.EverySecondCallByAnother: case(64, "r", *TWO),
    calls.CopyIsFusedWithWhatEndsLate: case(64, "r c", "add x x -> a", "mul x x -> b", "sum a -> r", "add b x -> c"),
    passes.PoolServesWhatIsStillRead: case(64, "r", *TWO),
    passes.SumOverWhatIsReadLater: case(64, "s", *TWO, "add r a -> s"),
    passes.CallOfWhatNeedsItself: case(64, "z", "add x x -> a", "sum a -> p", "add p x -> b", "sum b -> z"),
    passes.SeveralInOneShot: case(4, "r", "add x x -> a", "sum a x -> p q", "add p q -> r"),
    passes.OneShotBelowTheThreshold: case(32, "p", "add x x -> a", "sum a -> p"),
    passes.RaisedPastItsOperand: case(64, "p", "add x x -> a", "sum a -> p"),
}


def broken(engine: Engine, asked: Case | Graph) -> set[str]:
    made = with_graph(engine.schedule(asked), asked if isinstance(asked, Graph) else program_graph(asked))
    return {found.clause for found in judge(made) if found.finding == "broken"}


@pytest.mark.parametrize("mutant", OCCASIONS, ids=lambda each: each.__name__)
def test_a_mistake_in_a_pass_breaks_its_clause(mutant: Any) -> None:
    asked = OCCASIONS[mutant]
    assert mutant.breaks in broken(mutant(), asked)
    if not isabstract(mutant.__base__):
        assert broken(mutant.__base__(), asked) == set()


class Plain(Exported):
    """The engine without a mistake."""

    breaks = "law.C1"

    def spoil(self, made: Schedule) -> Schedule:
        return made


@pytest.mark.parametrize("mutant", [calls.WaitsKeptByAddress, calls.WaitsOfOtherQueuesAreLost])
def test_waits_that_are_kept_by_an_address_are_lost_of_a_later_program(mutant: Any) -> None:
    asked = case(64, "r", *TWO)
    other = neighbour(asked)
    assert other is not None
    right, wrong = Plain(), mutant()
    for engine, finding in ((right, "held"), (wrong, "broken")):
        first, second = (with_graph(engine.schedule(each), program_graph(each)) for each in (asked, other))
        assert any(isinstance(item, Wait) for item in first.items)
        judged = {each.clause: each.finding for each in judge_two(first, second, "neighbours")}
        assert judged["communication.C21"] == finding
