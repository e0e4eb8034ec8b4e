"""The ways OpenCL C differs from NumPy, each with the input that tells."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pyopencl as cl
import pytest

from conformance.backends.opencl.render.kernels import render
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import ALGORITHMS
from conformance.cases.tensor.dtypes import NUMPY

NAN = np.array([0x7FC12345, 0xFFC00001, 0x7F800001, 0x80000000], np.uint32).view(np.float32)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_movement_keeps_nan_payloads_and_negative_zero(algorithm: str, opencl: Any, make_case: Any, agree: Any) -> None:
    for op, attrs in (
        ("all_gather", {"axis": 0, "tiled": True}),
        ("all_to_all", {"split_axis": 0, "concat_axis": 0, "tiled": True}),
        ("permute", {"pairs": ((0, 1), (1, 0))}),
        ("broadcast", {"root": 1}),
        ("gather", {"root": 1, "axis": 0, "tiled": False}),
        ("scatter", {"root": 0, "axis": 0, "tiled": True}),
        ("shuffle", {"sources": (1, 0)}),
        ("all_to_all_uneven", {"sends": ((1, 3), (2, 2)), "receives": ((1, 2), (3, 2))}),
    ):
        case = make_case(op, [NAN, NAN[::-1].copy()], layouts=("flipped", "offset"), **attrs)
        agree(case, opencl(force=algorithm).execute(case))


def test_signed_integers_wrap(opencl: Any, make_case: Any, values: Any) -> None:
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    blocks = [np.array([high, low, high], np.int32), np.array([1, -1, 2], np.int32)]
    assert values(opencl().execute(make_case("all_reduce", blocks, op="sum")))[0].tolist() == [low, high, low + 1]
    assert values(opencl().execute(make_case("all_reduce", blocks, op="product")))[0].tolist() == [high, low, -2]
    assert values(opencl().execute(make_case("all_reduce", blocks, op="max")))[1].tolist() == [high, -1, high]


def test_narrow_unsigned_integers_wrap_at_their_own_width(opencl: Any, make_case: Any, values: Any) -> None:
    blocks = [np.array([255, 200], np.uint8), np.array([255, 2], np.uint8), np.array([3, 2], np.uint8)]
    assert values(opencl().execute(make_case("all_reduce", blocks, op="product")))[0].tolist() == [3, 32]
    assert values(opencl().execute(make_case("all_reduce", blocks, op="sum")))[0].tolist() == [1, 204]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_a_nan_wins_max_and_min_wherever_it_stands(dtype: str, opencl: Any, make_case: Any, agree: Any) -> None:
    rows = np.array([[1, np.nan, 0.0, -0.0, -np.inf], [np.nan, 2, -0.0, 0.0, np.inf], [3, 1, 0.0, -0.0, np.nan]])
    for op in ("max", "min"):
        case = make_case("all_reduce", list(rows.astype(NUMPY[dtype])), op=op)
        agree(case, opencl().execute(case))


def test_any_non_zero_byte_is_true_and_results_are_canonical(opencl: Any, make_case: Any, values: Any) -> None:
    blocks = [np.array([2, 0, 255, 0], np.uint8).view(np.bool_), np.array([0, 0, 1, 128], np.uint8).view(np.bool_)]
    assert values(opencl().execute(make_case("all_reduce", blocks, op="sum")))[0].tolist() == [1, 0, 2, 1]
    for op, wanted in (("max", [1, 0, 1, 1]), ("min", [0, 0, 1, 0])):
        result = values(opencl().execute(make_case("all_reduce", blocks, op=op)))[1]
        assert result.view(np.uint8).tolist() == wanted


def test_bfloat16_rounds_to_even_after_every_operation(opencl: Any, make_case: Any, agree: Any, values: Any) -> None:
    blocks = [np.array([x], ml_dtypes.bfloat16) for x in (256, 1, 1)]
    # 256 + 1 rounds to 256, twice; one rounding at the end would give 258.
    case = make_case("all_reduce", blocks, op="sum")
    assert values(opencl().execute(case))[0].tolist() == [256]
    large = np.array([3.3895313892515355e38, -3.3895313892515355e38], ml_dtypes.bfloat16)
    agree(case := make_case("all_reduce", [large, large], op="sum"), opencl().execute(case))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_subnormals_are_kept(dtype: str, opencl: Any, make_case: Any, agree: Any) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    case = make_case("all_reduce", [np.array([tiny, 3 * tiny]), np.array([tiny, -tiny])], op="sum")
    agree(case, opencl().execute(case))


def test_the_program_forbids_contraction_first_of_all() -> None:
    assert render().startswith("#pragma OPENCL FP_CONTRACT OFF")


def test_the_program_builds_without_a_warning_from_the_compiler(session: Session) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(session.platform.context, render()).build(cache_dir=False)
    logs = [program.get_build_info(device, cl.program_build_info.LOG) for device in session.platform.context.devices]
    # Intel's compiler always says that it begins, what it vectorised and that it is done, and that it was
    # asked not to vectorise.
    told = [line for log in logs for line in log.splitlines() if "warning" in line.lower()]
    assert [line for line in told if "can't be vectorized due to unsupported vec type hint" not in line] == []


@pytest.mark.parametrize("elements", [1, 63, 64, 65, 129])
def test_sizes_around_a_work_group_are_exact(elements: int, opencl: Any, make_case: Any, agree: Any) -> None:
    blocks = [np.arange(elements, dtype=np.int32) * (rank + 1) for rank in range(3)]
    for algorithm in ALGORITHMS:
        case = make_case("all_reduce", blocks, layouts=("strided", "flipped", "offset"), op="sum")
        agree(case, opencl(force=algorithm).execute(case))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_empty_and_rank_0_blocks_have_their_meaning(algorithm: str, opencl: Any, make_case: Any, agree: Any) -> None:
    backend = opencl(force=algorithm)
    for case in (
        make_case("all_reduce", [np.zeros((0, 3), np.float32)] * 3, op="sum"),
        make_case("all_gather", [np.zeros((2, 0), np.bool_)] * 2, axis=0, tiled=False),
        make_case("all_to_all", [np.zeros((4, 0), np.uint8)] * 2, split_axis=0, concat_axis=1, tiled=True),
        make_case("all_reduce", [np.array(rank + 1.0) for rank in range(5)], op="product"),
        make_case("all_gather", [np.array(rank, np.int32) for rank in range(8)], axis=0, tiled=False),
        make_case("reduce_scatter", [np.arange(2, dtype=np.int32)] * 2, op="max", axis=0, tiled=False),
    ):
        agree(case, backend.execute(case))
