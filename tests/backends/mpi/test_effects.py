"""In place, into receive buffers and nonblocking, real MPI ranks mean what the reference says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from conformance.backends.mpi import MPI
from conformance.cases.case import Case
from tests.backends.effectful import PROGRAMS, agrees, spoilt, step, written

ATTRS: dict[str, dict[str, Any]] = {
    "all_reduce": {"op": "sum"},
    "reduce": {"op": "max", "root": 1},
    "reduce_scatter": {"op": "sum", "axis": 0, "tiled": True},
    "all_gather": {"axis": 1, "tiled": True},
    "gather": {"axis": 0, "tiled": False, "root": 1},
    "scatter": {"axis": 1, "tiled": False, "root": 0},
    "all_to_all": {"split_axis": 0, "concat_axis": 0, "tiled": True},
    "all_to_all_uneven": {"sends": ((1, 1), (1, 1)), "receives": ((1, 1), (1, 1))},
    "broadcast": {"root": 1},
    "permute": {"pairs": ((0, 1), (1, 0))},
    "shuffle": {"sources": (1, 0)},
}
IN_PLACE = ("all_reduce", "reduce", "all_to_all", "all_to_all_uneven", "broadcast", "permute", "shuffle")


@pytest.fixture
def plain(one: Any) -> Case:
    return one("all_reduce", 2, shape=(2, 2), op="sum")


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"over no axis"}))
def test_effects_are_those_of_eager_execution(mpi: MPI, one: Any, name: str) -> None:
    agrees(mpi, one("all_reduce", 2, shape=(8,), op="sum"), PROGRAMS[name])


@pytest.mark.parametrize("op", ATTRS)
def test_every_collective_has_a_nonblocking_form(mpi: MPI, plain: Case, op: str) -> None:
    call: dict[str, Any] = {"axes": ("i",), "attrs": ATTRS[op], "start": True}
    agrees(
        mpi, plain, [step(f"t = {op} x", **call), step(f"u = {op} x", **call), step("y = done u"), step("w = done t")]
    )


@pytest.mark.parametrize("op", IN_PLACE)
@pytest.mark.parametrize("start", [False, True])
def test_operand_and_target_are_one_in_place(mpi: MPI, plain: Case, op: str, start: bool) -> None:
    call = step(f"y = {op} b", axes=("i",), attrs=ATTRS[op], into=("b",), start=start)
    done = [step("w = done y")] if start else []
    agrees(mpi, plain, [step("b = buffer x"), call, *done])


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("all_to_all", {"split_axis": 0, "concat_axis": 1, "tiled": False}),
        ("all_to_all_uneven", {"sends": ((2, 0), (0, 2)), "receives": ((2, 0), (0, 2))}),
    ],
)
def test_what_mpi_exchanges_in_place_lies_alike(mpi: MPI, one: Any, op: str, attrs: dict[str, Any]) -> None:
    world = one("all_reduce", 2, shape=(2, 2), op="sum")
    agrees(mpi, world, [step("b = buffer x"), step(f"y = {op} b", axes=("i",), attrs=attrs, into=("b",))])


@pytest.mark.parametrize("op", ["all_gather", "gather", "all_to_all"])
def test_columns_of_a_buffer_are_sent_and_received_in(mpi: MPI, one: Any, op: str) -> None:
    bounds = {"start": (0, 0), "stop": (2, 1 + (op == "all_to_all")), "step": (1, 1)}
    views = [step("h = view b", attrs=bounds), step("v = view b", attrs={**bounds, "start": (0, 2), "stop": (2, 4)})]
    attrs = {**ATTRS[op], **({"axis": 1, "tiled": True} if op != "all_to_all" else {})}
    call = step(f"y = {op} h", axes=("i",), attrs=attrs, into=("v",))
    agrees(mpi, one("all_reduce", 2, shape=(2, 4), op="sum"), [step("b = buffer x"), *views, call])


def test_what_is_started_and_never_waited_for_is_no_program_of_mpi(mpi: MPI, plain: Case) -> None:
    started = step("t = all_reduce x", axes=("i",), attrs={"op": "sum"}, start=True)
    program = msgspec.structs.replace(plain.program, steps=(started,), results=())
    seen = mpi.execute(msgspec.structs.replace(plain, program=program))
    assert {error.category for error in seen.errors if error} == {"unsupported"}


def test_what_ranks_wrote_before_one_refused_is_reported(mpi: MPI, one: Any) -> None:
    call = step("y = permute x", axes=("i",), attrs={"pairs": ((0, 1), (1, 0), (2, 3), (3, 2))}, into=("b",))
    asked = written(one("permute", 3, pairs=()), [step("b = buffer x"), call])
    seen = mpi.execute(asked)
    assert [error and error.kind for error in seen.errors] == [None, None, "MPI_ERR_RANK"]
    assert spoilt(asked, seen) == [("b", 0, 0), ("b", 1, 0)]
