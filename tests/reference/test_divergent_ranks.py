"""Ranks that go their own ways: who meets, who cannot go on, and what the others have."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.program.validate import validate
from conformance.cases.tensor.tensor import from_array
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate

PAIRS = ((0, 1), (2, 3))


def step(outputs: str, ranks: tuple[int, ...] | None = None, op: str = "sum", **fields: object) -> Step:
    """Return an all_reduce of ``x`` or of what is named."""
    plain = {"inputs": ("x",), "axes": ("i",), "attrs": {"op": op}, "op": "all_reduce", "ranks": ranks}
    return Step(**{**plain, **fields}, outputs=(outputs,))


BUFFER = Step(op="buffer", inputs=("x",), outputs=("b",), axes=())
BROADCAST = Step(op="broadcast", inputs=("x",), outputs=("z",), axes=("i",), attrs={"root": 0}, ranks=(1,))


def case(*steps: Step, world: int = 4, faults: tuple[Fault, ...] = ()) -> Case:
    """Rank r holds [r] in x."""
    blocks = tuple(from_array(np.array([rank], np.int32)) for rank in range(world))
    program = Program(mesh=(Axis("i", world),), steps=steps, results=tuple(s.outputs[0] for s in steps))
    made = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * world)}, faults=faults)
    validate(made)
    return made


def why(*steps: Step, **more: object) -> Rejected:
    with pytest.raises(Rejected) as caught:
        evaluate(case(*steps, **more))
    return caught.value


def values(blocks: list[object]) -> list[int | None]:
    return [None if block is None else int(np.asarray(block)[0]) for block in blocks]


def test_c2_a_late_rank_changes_nothing() -> None:
    late = evaluate(case(step("y"), faults=(Fault(rank=1, before=0, delay=0.5),)))
    assert values(late["y"]) == values(evaluate(case(step("y")))["y"]) == [6, 6, 6, 6]


def test_c3_groups_do_different_things() -> None:
    found = evaluate(case(step("y", (0, 1), groups=PAIRS), step("z", (2, 3), "max", groups=PAIRS)))
    assert values(found["y"]) == [1, 1, None, None]
    assert values(found["z"]) == [None, None, 3, 3]


def test_c4_members_meet_in_steps_of_their_own() -> None:
    found = evaluate(case(step("y", (0, 2)), step("z", (1, 3))))
    assert values(found["y"]) == [6, None, 6, None]
    assert values(found["z"]) == [None, 6, None, 6]


@pytest.mark.parametrize(
    ("clause", "steps"),
    [
        ("C5", (step("y", (0,)), BROADCAST)),
        ("C6", (step("y", (0,)), step("z", (1,), op="max"))),
        ("C9", (step("a", (0,)), step("b", (0,), op="max"), step("c", (1,), op="max"), step("d", (1,)))),
        ("C11", (step("y", (0,), groups=((1, 0),)), step("z", (1,)))),
        ("C12", (step("y"), step("z", (0,)))),
    ],
)
def test_who_disagrees_cannot_go_on(clause: str, steps: tuple[Step, ...]) -> None:
    found = why(*steps, world=2)
    assert found.clause == f"liveness.{clause}"
    assert found.ranks == ((0,) if clause == "C12" else (0, 1))


def test_c10_groups_that_cross_wait_for_each_other() -> None:
    mine, all_ = {"groups": PAIRS}, {"groups": None}
    steps = [step("a", (0,), **all_), step("b", **mine), step("c", (1, 2, 3), **all_)]
    found = why(*steps)
    assert (found.clause, found.ranks) == ("liveness.C10", (0, 1, 2, 3))
    assert values(found.results["b"]) == [None] * 4


def sent(name: str, pair: tuple[int, int], rank: int) -> Step:
    """Return a send between two ranks, which is done when both have come to it."""
    return Step(op="send", inputs=("x",), outputs=(name,), axes=("i",), attrs={"pairs": (pair,)}, ranks=(rank,))


def test_c9_sends_that_two_ranks_make_in_opposite_orders_wait_for_each_other() -> None:
    there, back = (0, 1), (1, 0)
    alike = (sent("a", there, 0), sent("b", back, 0), sent("c", there, 1), sent("d", back, 1))
    evaluate(ending(*alike))
    with pytest.raises(Rejected) as caught:
        evaluate(ending(*alike[:2], *alike[:1:-1]))
    assert (caught.value.clause, caught.value.ranks) == ("liveness.C9", (0, 1))


def ending(*steps: Step) -> Case:
    """Return the case of two ranks with these sends, and a sum after them."""
    made = case(step("y"), world=2)
    return replace(made, program=replace(made.program, steps=(*steps, *made.program.steps)))


def test_c13_who_waits_for_a_dead_rank_cannot_go_on() -> None:
    found = why(step("y", groups=PAIRS), step("z", groups=PAIRS), faults=(Fault(rank=3, before=1),))
    assert (found.clause, found.ranks) == ("liveness.C13", (2,))
    assert values(found.results["z"]) == [1, 1, None, None]


@pytest.mark.parametrize(
    ("problem", "steps", "faults"),
    [
        ("each once, in order", (step("y", (1, 0)),), ()),
        ("the mesh has 0 to 3", (step("y", (4,)),), ()),
        ("of which rank 1 has no block", (step("y", (0,)), step("z", inputs=("y",))), ()),
        ("there are no effects", (BUFFER, step("z", (0,))), ()),
        ("the mesh has 0 to 3", (step("y"),), (Fault(rank=4, before=0),)),
        ("the program has 0 to 0", (step("y"),), (Fault(rank=0, before=1),)),
        ("at most 1", (step("y"),), (Fault(rank=0, before=0, delay=2.0),)),
    ],
)
def test_malformed_trouble_is_named(problem: str, steps: tuple[Step, ...], faults: tuple[Fault, ...]) -> None:
    with pytest.raises(CaseError, match=problem):
        case(*steps, faults=faults)


def call(name: str, **attrs: object) -> Step:
    return Step(op=name, inputs=("x",), outputs=(name,), axes=("i",), attrs=attrs)


@pytest.mark.parametrize(
    ("dead", "steps", "ranks", "expected"),
    [
        (2, [call("broadcast", root=0)], (), [0, 0, None, 0]),
        (0, [call("broadcast", root=0)], (1, 2, 3), [None] * 4),
        (1, [call("permute", pairs=((0, 1), (1, 2), (2, 3)))], (2,), [0, None, None, 2]),
        (1, [call("shuffle", sources=(3, 2, 1, 0))], (2,), [3, None, None, 0]),
        (1, [call("reduce", op="sum", root=3), call("broadcast", root=3)], (0, 2, 3), [None] * 4),
        (2, [call("scan", op="sum", exclusive=True)], (3,), [0, 0, None, None]),
    ],
)
def test_c13_waits_only_who_needs_a_block(dead: int, steps: list[Step], ranks: object, expected: object) -> None:
    found = why(*steps, faults=(Fault(rank=dead, before=0),))
    assert (found.clause, found.ranks) == ("liveness.C13", ranks)
    assert values(found.results[steps[0].op]) == expected
