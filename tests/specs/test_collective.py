"""The clauses that every collective shares, on single cases."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def one_step(name: str, *blocks: np.ndarray, axes: tuple[str, ...] = ("i",), **attrs: Attr) -> Case:
    """Return a program of one step, with a block for every rank."""
    step = Step(op=name, inputs=("x",), outputs=("y",), axes=axes, attrs=attrs)
    operand = Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * len(blocks))
    return Case(program=Program(mesh=(Axis("i", len(blocks)),), steps=(step,), results=("y",)), inputs={"x": operand})


def judged(case: Case, *blocks: Tensor) -> Verdict:
    return verdict(meaning(case), Answer(Observation(results={"y": blocks})))


def zeros(size: int) -> Tensor:
    return from_array(np.zeros(size, np.int32))


def broken(seen: Verdict) -> set[str]:
    return {clause for clause, held in seen.clauses.items() if held == "broken"}


@pytest.mark.parametrize(("byte", "clauses"), [(1, {"reduction.C11"}), (2, {"reduction.C11", "collective.C3"})])
def test_a_sum_of_bools_may_be_a_bool_and_never_the_byte_2(byte: int, clauses: set[str]) -> None:
    case = one_step("all_reduce", *[np.array([True])] * 2, op="sum")
    assert broken(judged(case, *[Tensor(dtype="bool", shape=(1,), bits=f"{byte:02x}")] * 2)) == clauses


def test_over_no_axis_what_001_returns_is_demanded_and_the_rest_is_a_should() -> None:
    blocks = [np.array([7], np.int32)] * 2
    pairs: Attr = ()
    assert broken(judged(one_step("permute", *blocks, axes=(), pairs=pairs), *[zeros(1)] * 2)) == {"collective.C30"}
    assert broken(judged(one_step("all_reduce", *blocks, axes=(), op="mean"), *[zeros(1)] * 2)) == {"collective.C30"}
    assert broken(judged(one_step("all_reduce", *blocks, axes=(), op="max"), *[zeros(1)] * 2)) == {"collective.C21"}


def test_what_is_done_with_a_block_that_a_should_settles_is_not_demanded_either() -> None:
    case = one_step("permute", *[np.array([7], np.int32)] * 2, axes=(), pairs=())
    gather = Step(op="all_gather", inputs=("y",), outputs=("z",), axes=("i",), attrs={"axis": 0, "tiled": True})
    program = msgspec.structs.replace(case.program, steps=(*case.program.steps, gather), results=("y", "z"))
    seen = Observation(results={"y": (zeros(1),) * 2, "z": (zeros(2),) * 2})
    assert broken(verdict(meaning(msgspec.structs.replace(case, program=program)), Answer(seen))) == {"collective.C30"}


@pytest.mark.parametrize(
    ("op", "groups", "axes", "held"),
    [
        ("all_reduce", ((1, 0), (2, 3)), ("i", "j"), (None, None)),
        ("all_reduce", ((0, 1), (2, 3)), ("j", "i"), (None, "held")),
        ("all_reduce", None, ("j", "i"), (None, None)),
        ("scan", ((1, 0), (2, 3)), ("i", "j"), ("held", None)),
        ("scan", None, ("j", "i"), (None, "held")),
    ],
)
def test_collective_c8_and_c24_are_about_results_that_positions_show_in(
    op: str, groups: Groups | None, axes: tuple[str, ...], held: tuple[str | None, str | None]
) -> None:
    attrs: dict[str, Attr] = {"op": "sum"} | ({"exclusive": False} if op == "scan" else {})
    step = Step(op=op, inputs=("x",), outputs=("y",), axes=axes, groups=groups, attrs=attrs)
    operand = Operand(blocks=tuple(from_array(np.array([n], np.int32)) for n in range(4)), layouts=("contiguous",) * 4)
    program = Program(mesh=(Axis("i", 2), Axis("j", 2)), steps=(step,), results=("y",))
    case = Case(program=program, inputs={"x": operand})
    clauses = verdict(meaning(case), Answer(Reference().execute(case))).clauses
    assert (clauses.get("collective.C8"), clauses.get("collective.C24")) == held
