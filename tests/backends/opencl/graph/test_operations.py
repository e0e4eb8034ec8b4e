"""What the operations of several steps, several operands and several axes do on the devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import ALGORITHMS
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.reductions import REDUCTIONS, fold
from conformance.reference.spmd import evaluate
from conformance.runner.meaning import meaning

ORDER_SENSITIVE = np.random.default_rng(3).standard_normal((4, 3, 4, 5)).astype(np.float32)


@pytest.mark.parametrize("algorithm", ["direct", "naive", "one_shot"])
@pytest.mark.parametrize("axes", [(0,), (1,), (-1, 0), (2, 1, 0)])
def test_local_axes_are_folded_slice_by_slice_before_the_next_member(
    axes: Any, algorithm: str, opencl: Any, make_case: Any, agree: Any
) -> None:
    for op in ("sum", "mean", "product"):
        layouts = ("contiguous", "flipped", "transposed", "strided")
        case = make_case("all_reduce", list(ORDER_SENSITIVE), layouts=layouts, op=op, local_axes=axes)
        agree(case, opencl(force=algorithm).execute(case))


@pytest.mark.parametrize("dtype", ["float32", "float8_e4m3fn", "complex128", "int4", "uint64", "bool"])
def test_c5_nothing_reduces_to_what_changes_nothing(
    dtype: str, opencl: Any, make_case: Any, agree: Any, values: Any
) -> None:
    for shape, axes in (((0,), (0,)), ((2, 0, 3), (1,)), ((0, 0, 2), (1, -1)), ((2, 0), (0,))):
        for op in REDUCTIONS:
            case = make_case("all_reduce", [np.zeros(shape, NUMPY[dtype])] * 3, op=op, local_axes=axes)
            if op == "mean":
                assert np.isnan(values(opencl().execute(case))[1]).all()
            elif meaning(case).legal:
                agree(case, opencl().execute(case))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_scaled_sum_scales_every_block_once(algorithm: str, opencl: Any, make_case: Any, agree: Any) -> None:
    blocks = [np.arange(100, dtype=np.float64) + rank for rank in range(5)]
    for op, attrs in (("all_reduce", {}), ("reduce", {"root": 3}), ("reduce_scatter", {"axis": 0, "tiled": True})):
        case = make_case(op, blocks, op="premul_sum", factor=0.5, **attrs)
        agree(case, opencl(force=algorithm).execute(case))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64])
def test_a_mean_of_integers_divides_the_wrapped_sum(
    dtype: Any, algorithm: str, opencl: Any, make_case: Any, agree: Any, values: Any
) -> None:
    blocks = [np.full(70, 255, np.uint8).astype(dtype)] * 3
    case = make_case("all_reduce", blocks, op="mean")
    seen = opencl(force=algorithm).execute(case)
    agree(case, seen)
    assert values(seen)[2].tolist() == fold(blocks, "mean").tolist()


@pytest.mark.parametrize("algorithm", ["direct", "all_to_all", "tree"])
def test_ties_nans_and_extremes_have_the_first_position(
    algorithm: str, opencl: Any, make_case: Any, values: Any
) -> None:
    nan = np.nan
    blocks = [
        np.array(row, np.float32) for row in ([0.0, 1, nan, -np.inf], [-0.0, 2, 1, -np.inf], [0.0, 2, 2, -np.inf])
    ]
    backend = opencl(force=algorithm)
    assert values(backend.execute(make_case("arg_reduce", blocks, op="max")))[1].tolist() == [0, 1, 2**31 - 1, 0]
    assert values(backend.execute(make_case("arg_reduce", blocks, op="min")))[2].tolist() == [0, 0, 2**31 - 1, 0]


def ragged(
    sizes: list[list[int]], starts: list[list[int]], ats: list[list[int]], dtype: str = "int32"
) -> dict[str, list[Any]]:
    received = np.array(sizes).T.tolist()
    tables = {"starts": starts, "sizes": sizes, "ats": ats, "received": received}
    return {name: [np.array(row, NUMPY[dtype]) for row in rows] for name, rows in tables.items()}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_overlapping_slices_are_written_in_sender_order_and_other_rows_survive(
    algorithm: str, opencl: Any, make_program: Any, agree: Any, values: Any
) -> None:
    inputs = {
        "x": [np.arange(4, dtype=np.int16) + 10 * (rank + 1) for rank in range(2)],
        "out": [np.full(5, -1 - rank, np.int16) for rank in range(2)],
        **ragged([[3, 0], [2, 1]], [[1, 0], [0, 3]], [[0, 4], [1, 4]]),
    }
    case = make_program({"i": 2}, inputs, [("ragged_all_to_all", tuple(inputs), ("y",), {})], ("y", "out"))
    seen = opencl(force=algorithm).execute(case)
    agree(case, seen)
    assert [block.tolist() for block in values(seen)] == [[11, 20, 21, -1, -1], [-2, -2, -2, -2, 23]]


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int8", "uint64"])
def test_tables_hold_any_integers(dtype: str, opencl: Any, make_program: Any, agree: Any) -> None:
    inputs = {"x": [np.arange(7) + 10 * rank for rank in range(2)], "out": [np.zeros(7, np.int64)] * 2}
    tables = ragged([[6, 1], [1, 6]], [[1, 0], [0, 1]], [[0, 0], [6, 1]], dtype)
    names = (*inputs, *tables)
    case = make_program({"i": 2}, inputs | tables, [("ragged_all_to_all", names, ("y",), {})], ("y",))
    assert evaluate(case)["y"][1].tolist() == [0, *range(11, 17)]
    agree(case, opencl().execute(case))


def test_tables_may_come_from_an_earlier_step(opencl: Any, make_program: Any, agree: Any, session: Session) -> None:
    tables = ragged([[1, 2], [2, 1]], [[0, 1], [0, 2]], [[0, 0], [1, 2]])
    del tables["received"]
    inputs = {
        "x": [np.arange(6.0).reshape(3, 2) + 10 * rank for rank in range(2)],
        "out": [np.zeros((4, 2))] * 2,
        **tables,
    }
    exchange = ("all_to_all", ("sizes",), ("received",), {"split_axis": 0, "concat_axis": 0, "tiled": True})
    operands = ("x", "out", "starts", "sizes", "ats", "received")
    steps = [exchange, ("ragged_all_to_all", operands, ("y",), {}), ("all_reduce", ("y",), ("z",), {"op": "sum"})]
    case = make_program({"i": 2}, inputs, steps, ("y", "z"))
    agree(case, opencl().execute(case))
    assert session.memory.live == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_several_operands_are_each_treated_alone(algorithm: str, opencl: Any, make_program: Any, agree: Any) -> None:
    inputs = {
        "x": [np.arange(6, dtype=np.int8).reshape(2, 3) + rank for rank in range(6)],
        "v": [np.array(rank, np.complex64) for rank in range(6)],
    }
    step = ("all_reduce", ("x", "v"), ("y", "w"), {"op": "mean", "axes": ("k", "i"), "groups": ((3, 1), (0,), (2,))})
    case = make_program(
        {"i": 2, "j": 1, "k": 2}, {name: ranks[:4] for name, ranks in inputs.items()}, [step], ("w", "y")
    )
    agree(case, opencl(force=algorithm).execute(case))


def test_no_operands_and_no_axes_are_legal(opencl: Any, make_program: Any, agree: Any, session: Session) -> None:
    steps = [
        ("all_reduce", (), (), {"op": "no such reduction"}),
        ("all_reduce", ("x",), ("y",), {"op": "sum", "axes": ()}),
        ("send", ("y",), ("t",), {"axes": (), "pairs": ()}),
        ("recv", ("t",), ("z",), {"axes": (), "pairs": (), "shape": (), "dtype": "int8"}),
        ("axis_size", (), ("n",), {"axes": ()}),
    ]
    case = make_program({"i": 3}, {"x": [np.array([True, False])] * 3}, steps, ("y", "z", "n"))
    agree(case, opencl().execute(case))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_nobody_sent_is_zero_and_a_token_serves_twice(
    algorithm: str, opencl: Any, make_program: Any, agree: Any
) -> None:
    pairs = ((2, 0), (0, 1))
    receive = {"pairs": pairs, "shape": (5,), "dtype": "float16"}
    steps = [
        ("send", ("x",), ("t",), {"pairs": pairs}),
        ("all_reduce", ("x",), ("s",), {"op": "max"}),
        ("recv", ("t",), ("y",), receive),
        ("recv", ("t",), ("z",), receive),
        ("shuffle", ("z",), ("w",), {"sources": (1, 2, 0)}),
    ]
    case = make_program(
        {"i": 3}, {"x": [np.arange(5).astype(np.float16) - rank for rank in range(3)]}, steps, ("y", "w", "s", "z")
    )
    agree(case, opencl(force=algorithm).execute(case))


def test_positions_sizes_and_constants_are_the_groups_own(opencl: Any, make_program: Any, values: Any) -> None:
    groups = ((3, 0), (1,), (2, 4))
    for op, attrs, wanted in (
        ("axis_index", {}, [1, 0, 0, 0, 1]),
        ("axis_size", {}, [2, 1, 2, 2, 2]),
        ("reduce_constant", {"value": -3}, [-6, -3, -6, -6, -6]),
    ):
        case = make_program({"i": 5}, {}, [(op, (), ("y",), {"groups": groups, **attrs})], ("y",))
        found = values(opencl().execute(case))
        assert [block.tolist() for block in found] == wanted
        assert {(block.dtype, block.shape) for block in found} == {(np.dtype(np.int32), ())}


def test_a_constant_beyond_int32_is_refused(opencl: Any, make_program: Any) -> None:
    case = make_program({"i": 2}, {}, [("reduce_constant", (), ("y",), {"value": 2**30})], ("y",))
    assert opencl().execute(case).errors[0].kind == "ConstantTooLargeError"


def test_results_are_fresh_storage_even_for_one_rank(opencl: Any, make_program: Any, session: Session) -> None:
    steps = [("all_reduce", ("x",), ("y",), {"op": "sum"}), ("broadcast", ("x",), ("z",), {"root": 0, "axes": ()})]
    case = make_program({"i": 1}, {"x": [np.arange(3)]}, steps, ("x", "y", "z"))
    seen = opencl().execute(case)
    assert len({block[0].bits for block in seen.results.values() if block[0]}) == 1
    assert seen.touched == ()
    assert session.memory.live == 0
