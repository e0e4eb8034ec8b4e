"""Each operation on real MPI ranks means what the reference says."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from conformance.backends.mpi import MPI
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.layout import LAYOUTS

UNSORTED = ((2, 0), (1, 3))


@pytest.mark.parametrize("op", ["sum", "product", "max", "min"])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "uint64", "float16", "float32", "float64"])
def test_reductions_fold_every_number(mpi: MPI, one: Any, agrees: Any, op: str, dtype: str) -> None:
    agrees(mpi, one("all_reduce", 2, op=op, dtype=NUMPY[dtype], shape=(3,)))


@pytest.mark.parametrize(("op", "dtype"), [("and", "int32"), ("or", "bool"), ("xor", "uint8"), ("sum", "complex64")])
def test_bits_truth_and_complex_numbers_have_their_operations(
    mpi: MPI, one: Any, agrees: Any, op: str, dtype: str
) -> None:
    agrees(mpi, one("all_reduce", 2, op=op, dtype=NUMPY[dtype]))


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("dtype", ["int16", "int64", "float32"])
def test_positions_stand_beside_values(mpi: MPI, one: Any, agrees: Any, op: str, dtype: str) -> None:
    agrees(mpi, one("arg_reduce", 4, op=op, dtype=NUMPY[dtype], groups=UNSORTED, layout="flipped"))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("tiled", [True, False])
def test_blocks_land_where_they_are_joined(mpi: MPI, one: Any, agrees: Any, axis: int, tiled: bool) -> None:
    if axis < 2 or not tiled:
        agrees(mpi, one("all_gather", 4, shape=(2, 3), axis=axis, tiled=tiled, groups=UNSORTED))
        agrees(mpi, one("gather", 4, shape=(2, 3), axis=axis, tiled=tiled, root=1, groups=UNSORTED))


@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("tiled", [True, False])
def test_pieces_are_taken_from_where_they_lie(mpi: MPI, one: Any, agrees: Any, axis: int, tiled: bool) -> None:
    shape = (2, 4) if axis % 2 == 0 else (4, 2)
    agrees(mpi, one("scatter", 2, shape=shape, axis=axis, tiled=tiled, root=1, layout="transposed"))
    agrees(mpi, one("reduce_scatter", 2, shape=shape, axis=axis, tiled=tiled, op="sum"))


@pytest.mark.parametrize(("split", "concat"), [(0, 0), (0, 1), (1, 0), (-1, -2)])
@pytest.mark.parametrize("tiled", [True, False])
def test_all_to_all_splits_and_joins_anywhere(
    mpi: MPI, one: Any, agrees: Any, split: int, concat: int, tiled: bool
) -> None:
    agrees(mpi, one("all_to_all", 2, shape=(2, 2), split_axis=split, concat_axis=concat, tiled=tiled))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_derived_datatypes(mpi: MPI, one: Any, agrees: Any, layout: str) -> None:
    for shape in ((2, 3), (3,), (), (2, 0)):
        if shape or layout != "broadcast":
            agrees(mpi, one("broadcast", 2, shape=shape, root=1, layout=layout))
    agrees(mpi, one("all_gather", 2, shape=(2, 3), axis=1, tiled=True, layout=layout))
    tables = {"sends": ((1, 1), (2, 0)), "receives": ((1, 2), (1, 0))}
    agrees(mpi, one("all_to_all_uneven", 2, shape=(2, 3), layout=layout, **tables))


def test_no_elements_are_gathered_into_no_elements(mpi: MPI, one: Any, agrees: Any) -> None:
    agrees(mpi, one("gather", 2, shape=(0,), axis=0, tiled=False, root=0))
    agrees(mpi, one("scatter", 2, shape=(2, 0), axis=0, tiled=False, root=0))


def test_roots_and_positions_count_in_the_group(mpi: MPI, one: Any, agrees: Any) -> None:
    agrees(mpi, one("reduce", 4, op="max", root=1, groups=UNSORTED))
    agrees(mpi, one("broadcast", 4, root=0, groups=((3, 1, 0), (2,))))
    agrees(mpi, one("all_reduce", 4, op="sum", groups=((3, 1, 0), (2,))))
    tables = {"sends": ((1, 3), (4, 0)), "receives": ((1, 4), (3, 0))}
    agrees(mpi, one("all_to_all_uneven", 4, groups=UNSORTED, **tables))


@pytest.mark.parametrize("pairs", [((0, 1), (1, 0)), ((1, 1), (0, 0))])
def test_one_sendrecv_on_each_rank_permutes(
    mpi: MPI, one: Any, agrees: Any, pairs: tuple[tuple[int, int], ...]
) -> None:
    agrees(mpi, one("permute", 4, pairs=pairs, groups=UNSORTED))
    agrees(mpi, one("shuffle", 4, sources=(1, 0), groups=UNSORTED))


@pytest.mark.parametrize("dtype", ["int4", "float8_e5m2", "bfloat16", "complex128", "bool"])
def test_what_mpi_has_no_datatype_for_moves_as_bytes(mpi: MPI, one: Any, agrees: Any, dtype: str) -> None:
    agrees(mpi, one("permute", 2, pairs=((1, 0), (0, 1)), shape=(3,), dtype=NUMPY[dtype], layout="strided"))


def test_a_message_nobody_receives_is_not_taken_for_a_later_one(mpi: MPI, one: Any, agrees: Any) -> None:
    pairs = ((0, 1), (1, 0))
    asked = one("permute", 2, pairs=pairs)
    send = Step(op="send", inputs=("x0",), outputs=("token",), axes=("i",), attrs={"pairs": pairs})
    attrs = {"pairs": pairs, "shape": (4,), "dtype": "int32"}
    recv = Step(op="recv", inputs=("token",), outputs=("y",), axes=("i",), attrs=attrs)
    lost = Program(mesh=asked.program.mesh, steps=(send,), results=())
    found = Program(mesh=asked.program.mesh, steps=(send, recv), results=("y",))
    for program in (lost, lost, found, lost, found):
        agrees(mpi, msgspec.structs.replace(asked, program=program))


@pytest.mark.parametrize("op", ["axis_index", "axis_size", "barrier"])
def test_steps_without_operands(mpi: MPI, one: Any, agrees: Any, op: str) -> None:
    agrees(mpi, one(op, 4, operands=0, groups=((3, 1, 0), (2,))))


@pytest.mark.parametrize("axes", [("j", "i"), ("j",)])
def test_axes_of_a_mesh_are_groups_in_their_order(mpi: MPI, one: Any, agrees: Any, axes: tuple[str, ...]) -> None:
    asked = one("all_gather", 4, axis=0, tiled=True, operands=2)
    step = msgspec.structs.replace(asked.program.steps[0], axes=axes)
    program = Program(mesh=(Axis("i", 2), Axis("j", 2)), steps=(step,), results=asked.program.results)
    agrees(mpi, msgspec.structs.replace(asked, program=program))


def test_what_mpi_cannot_be_asked_is_unsupported(mpi: MPI, one: Any) -> None:
    asked = [
        one("all_reduce", 2, op="sum", groups=((0,),)),
        one("all_reduce", 2, op="sum", shape=(2, 2), layout="strided"),
        one("reduce_constant", 2, value=1, operands=0),
        one("permute", 2, pairs=((0, 1),)),
        one("all_to_all_uneven", 2, sends=(), receives=()),
    ]
    asked.append(msgspec.structs.replace(asked[0], program=over_no_axis(one("broadcast", 2, root=0).program)))
    for case in asked:
        errors = [error for error in mpi.execute(case).errors if error is not None]
        assert {error.category for error in errors if error.kind != "Abort"} == {"unsupported"}


def over_no_axis(program: Program) -> Program:
    steps = tuple(msgspec.structs.replace(step, axes=()) for step in program.steps)
    return msgspec.structs.replace(program, steps=steps)


def test_errors_have_the_class_that_mpi_gives_them(mpi: MPI, one: Any) -> None:
    seen = mpi.execute(one("broadcast", 2, root=2))
    assert [(error.kind, error.category) for error in seen.errors if error] == [
        ("MPI_ERR_ROOT", "invalid_argument")
    ] * 2
    seen = mpi.execute(one("all_reduce", 2, op="and", dtype=np.float32))
    assert [error.kind for error in seen.errors if error] == ["MPI_ERR_OP"] * 2


def test_a_scan_folds_up_to_each_rank_and_the_exclusive_one_is_not_claimed(mpi: MPI, one: Any, agrees: Any) -> None:
    agrees(mpi, one("scan", 3, op="sum", exclusive=False))
    (seen,) = mpi.execute_many([one("scan", 3, op="sum", exclusive=True)])
    assert {error.category for error in seen.errors if error} == {"unsupported"}
