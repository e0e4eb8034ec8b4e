"""How mutants are asked about cases: what the unbroken class answers is not judged, and schedules have mutants too."""

from __future__ import annotations

import numpy as np

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.graph.graph import Graph
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array
from conformance.qualification.asking import Control, beside, fails_in
from conformance.qualification.deck.every_mutant import every_mutant
from conformance.reference.operations.all_reduce import all_reduce
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.runner.draws import numbered
from conformance.runner.plan import Plan
from conformance.runner.worker.in_process import InProcess


class Doubles(Reference):
    """A maximum is doubled."""

    def all_reduce(
        self, blocks: list[Array], *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = (), groups: Groups
    ) -> list[Array]:
        made = all_reduce(blocks, op=op, factor=factor, local_axes=local_axes, groups=groups)
        return [2 * block for block in made] if op == "max" else made


def reduced(op: str) -> Trial:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": op})
    blocks = tuple(from_array(np.array([1, 2], np.int32)) for _ in range(2))
    case = Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "contiguous"))},
    )
    one = trial(case)
    assert one is not None
    return one


def test_a_mutant_is_judged_only_where_it_answers_something_else() -> None:
    control = Control(Reference)
    assert fails_in(reduced("max"), Doubles(), control)
    assert not fails_in(reduced("sum"), Doubles(), control)
    worker = InProcess(BackendSpec("m", ()), backend=Doubles())
    assert [beside(reduced(op), worker.ask, control.terms, control)[1] for op in ("sum", "max")] == [True, False]


def test_with_a_control_the_same_mutants_die() -> None:
    for op in ("sum", "max"):
        assert fails_in(reduced(op), Doubles()) == fails_in(reduced(op), Doubles(), Control(Reference))


def test_mutants_that_schedule_wrongly_die_of_schedules_that_are_asked_for() -> None:
    draws = Plan(ops=("schedule_of_graph",), examples=100, suites=("schedules",)).of("schedules", "schedule_of_graph")
    every = [each for each in every_mutant(["schedules"]) if each.of == "written"]
    dead: set[str] = set()
    for number in range(12):
        asked = ScheduleCase(of=numbered(draws.domain, 1, number)[0].of)
        one = trial(asked, "schedules")
        assert one is not None
        if isinstance(asked.of, Graph) and len(asked.of.nodes) <= 15:  # of fifty one takes ten seconds
            dead |= {each.name for each in every if each.name not in dead and each.fails(one)}
        if len(dead) > len(every) / 4:
            break
    assert len(every) > 20
    assert len(dead) > len(every) / 4
