"""What counts as an error, who has to give one, and what is asked of the ranks afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Fault, Operand
from conformance.cases.observation import Category, Observation, RankError
from conformance.cases.program.health import health_case
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

MESH = (Axis("i", 3),)


def dying(*, groups: Groups | None = None) -> Case:
    """Rank 2 dies before the only step, for which the others of its group wait."""
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), groups=groups, attrs={"op": "sum"})
    blocks = tuple(from_array(np.array([rank], np.int32)) for rank in range(3))
    program = Program(mesh=MESH, steps=(step,), results=("y",))
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)}
    return Case(program=program, inputs=inputs, faults=(Fault(rank=2, before=0),))


HEALTH = Reference().execute(health_case(dying()))


def error(category: Category = "internal") -> RankError:
    return RankError(kind="Closed", message="connection closed", category=category)


def judged(*errors: RankError | None, health: Observation | None = HEALTH) -> Verdict:
    """Return the verdict on ``dying``, after which ``health`` was seen."""
    return verdict(meaning(dying()), Answer(Observation(errors=errors, health=health)))


def broken(found: Verdict) -> set[str]:
    return {clause for clause, held in found.clauses.items() if held == "broken"}


def test_c13_every_rank_that_waits_raises() -> None:
    assert judged(error(), error(), error("no_answer")).outcome == "passed"
    assert judged(error(), error(), None).outcome == "passed"
    assert broken(judged(error(), None, error())) == {"liveness.C13"}


def test_c1_no_answer_is_no_error() -> None:
    assert broken(judged(error(), error("no_answer"), None)) == {"liveness.C1", "liveness.C13"}


def test_c15_afterwards_the_ranks_compute() -> None:
    other = replace(dying(), faults=(Fault(rank=1, before=0),))
    stale = Reference().execute(health_case(other))
    for health in (None, stale, Observation(errors=(error(),) * 3)):
        assert broken(judged(error(), error(), None, health=health)) == {"liveness.C15"}


def test_c15_the_groups_of_the_program_compute_too() -> None:
    subject = meaning(dying(groups=((0, 2), (1,))))
    whole = Reference().execute(health_case(subject.case))
    half = replace(whole, results=whole.results | {"y1": whole.results["y0"]})
    seen = Observation(errors=(error(), None, None), results={"y": (None, subject.case.inputs["x"].blocks[1], None)})
    assert broken(verdict(subject, Answer(replace(seen, health=whole)))) == set()
    assert broken(verdict(subject, Answer(replace(seen, health=half)))) == {"liveness.C15"}


def test_c14_who_can_go_on_returns_something_or_raises() -> None:
    subject = meaning(dying(groups=((0, 2), (1,))))
    health = Reference().execute(health_case(subject.case))
    silent = Observation(errors=(error(), None, None), health=health)
    assert broken(verdict(subject, Answer(silent))) == {"liveness.C14"}
    assert broken(verdict(subject, Answer(replace(silent, errors=(error(), error(), None))))) == set()


WAYS = {
    "late": lambda step: ((step,), (Fault(rank=1, before=0, delay=0.1),)),
    "apart": lambda step: ((replace(step, outputs=("z",), ranks=(0,)), replace(step, ranks=(1, 2))), ()),
    "dies": lambda step: ((step, replace(step, outputs=("z",), axes=())), (Fault(rank=1, before=1),)),
}


@pytest.mark.parametrize("way", WAYS)
def test_sums_of_floats_are_judged_in_every_order_where_ranks_part_are_late_or_die(way: str) -> None:
    whole = dying()
    steps, faults = WAYS[way](whole.program.steps[0])
    program = replace(whole.program, steps=steps, results=tuple(step.outputs[0] for step in steps))
    blocks = tuple(from_array(np.array([each], np.float32)) for each in (1e8, 1, -1e8))
    subject = meaning(
        replace(
            whole, program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)}, faults=faults
        )
    )
    right = Reference().execute(subject.case)
    for value, outcome in (([0], "passed"), ([1], "passed"), ([3], "failed"), ([[0]], "failed")):
        block = from_array(np.array(value, np.float32))
        results = {
            name: tuple(given and block if name == "y" else given for given in each)
            for name, each in right.results.items()
        }
        seen = replace(right, results=results, health=Reference().execute(health_case(subject.case)))
        assert verdict(subject, Answer(seen)).outcome == outcome


@pytest.mark.parametrize(("op", "terms", "given"), [("sum", (-0.0, -0.0, 1), 0.0), ("max", (np.nan, 2, 1), 2.0)])
def test_c14_says_nothing_of_what_a_should_settles(op: str, terms: tuple[float, ...], given: float) -> None:
    whole = dying(groups=((0, 1), (2,)))
    program = replace(whole.program, steps=(replace(whole.program.steps[0], attrs={"op": op}),))
    blocks = tuple(from_array(np.array([each], np.float32)) for each in terms)
    case = replace(whole, program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)})
    block = from_array(np.array([given], np.float32))
    health = Reference().execute(health_case(case))
    seen = Observation(results={"y": (block, block, None)}, errors=(None, None, error()), health=health)
    assert verdict(meaning(case), Answer(seen)).outcome == "passed"


def test_the_world_alone_computes_after_groups_that_are_none() -> None:
    assert len(health_case(dying(groups=((0, 0), (1,)))).program.steps) == 1


def test_a_hang_refuses_nothing_where_all_ranks_do_alike() -> None:
    case = replace(dying(), faults=())
    bad = replace(case, program=replace(case.program, steps=(replace(case.program.steps[0], attrs={"op": "median"}),)))
    hung = Observation(errors=(error("no_answer"),) * 3)
    subject = meaning(bad)
    assert subject.rejected is not None
    assert subject.rejected.clause in broken(verdict(subject, Answer(hung)))


@pytest.mark.parametrize(("second", "held"), [(error(), "held"), (error("no_answer"), None)])
def test_c14_says_nothing_of_a_rank_that_can_go_on_and_gives_no_answer(second: RankError, held: str | None) -> None:
    seen = Observation(errors=(error(), second, error("no_answer")), health=HEALTH)
    found = verdict(meaning(dying(groups=((0, 2), (1,)))), Answer(seen))
    assert found.clauses.get("liveness.C14") == held
    assert found.clauses["liveness.C1"] == ("held" if held else "broken")


@pytest.mark.parametrize(
    ("op", "terms", "given", "outcome"),
    [
        ("sum", (True, True, False), np.array([True]), "passed"),
        ("sum", (True, True, False), np.array([2], np.int64), "passed"),
        ("sum", (True, True, False), np.array([3], np.int32), "failed"),
        ("mean", (1, 4, 0), np.array([2.5], np.float32), "passed"),
        ("mean", (1, 4, 0), np.array([7.0], np.float32), "failed"),
        ("max", (np.nan, 2.0, 1.0), np.array([[2.0]]), "failed"),
        ("sum", (-0.0, -0.0, 1.0), np.array([7.0]), "failed"),
    ],
)
def test_c14_asks_of_what_a_should_settles_what_a_must_says(
    op: str, terms: tuple[float, ...], given: NDArray[Any], outcome: str
) -> None:
    whole = dying(groups=((0, 1), (2,)))
    program = replace(whole.program, steps=(replace(whole.program.steps[0], attrs={"op": op}),))
    blocks = tuple(from_array(np.array([each])) for each in terms)
    case = replace(whole, program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)})
    health = Reference().execute(health_case(case))
    seen = Observation(results={"y": (from_array(given),) * 2 + (None,)}, errors=(None, None, error()), health=health)
    found = verdict(meaning(case), Answer(seen))
    assert (found.outcome, found.clauses["liveness.C14"] == "held") == (outcome, outcome == "passed")
