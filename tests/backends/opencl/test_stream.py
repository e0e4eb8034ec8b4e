"""Streaming kernels: the same bits as the others, around every length of a block, on every way of storing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.item import Work
from conformance.backends.opencl.render import BLOCK, Body
from conformance.backends.opencl.render_stream import render_stream
from conformance.backends.opencl.settings import Settings
from conformance.backends.opencl.stream import FOLDED, streamed
from conformance.backends.opencl.view import View
from conformance.cases.dtypes import NUMPY, kind

ALWAYS = {"stream_from": 1, "copy_from": 1}
SUM = Body("sum", "float32", "float32")
RUN = View((100,), (1,))


def streams(body: Body = SUM, **changed: Any) -> Any:
    given: dict[str, Any] = {"first": 0, "size": 100, "loads": ((0, RUN), (1, RUN)), "stores": ((0, RUN),), **changed}
    return streamed(body, Work(**given), Settings(stream_from=100, past_from=400)).stream


def test_only_long_runs_of_a_plain_fold_stream() -> None:
    assert streams() == (2, 1, True)
    assert streams(size=99) is None
    assert streams(mode="divide") is None
    assert streams(loads=((0, RUN), (0, RUN))) is None
    assert streams(stores=((0, View((100,), (2,))),)) is None
    assert streams(Body("move", "4", "4")) is None
    assert streams(stores=((0, View((100,), (1,), 1)),)) == (2, 1, False)


def test_a_body_that_does_not_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="fold_float32_float32 streams nothing"):
        render_stream(SUM)


@pytest.mark.parametrize("past", [1, 2**62])
@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, 8 * BLOCK + 5])
def test_runs_around_a_block_are_exact(size: int, past: int, opencl: Any, make_case: Any, agree: Any) -> None:
    blocks = [np.random.default_rng(rank).standard_normal(size).astype(np.float32) for rank in range(3)]
    for layouts in (("contiguous",) * 3, ("offset", "contiguous", "strided")):
        for op, attrs in (("all_reduce", {"op": "sum"}), ("all_gather", {"axis": 0, "tiled": True})):
            case = make_case(op, blocks, layouts=layouts, **attrs)
            agree(case, opencl(**ALWAYS, past_from=past).execute(case))


def drawn(dtype: str) -> list[Any]:
    bits = np.random.default_rng(5).integers(0, 2, (2, 70)) if kind(dtype) == "bool" else None
    if bits is None:
        bits = np.random.default_rng(5).integers(0 if dtype.startswith("u") else -3, 4, (2, 70))
    return list(bits.astype(NUMPY[dtype]))


@pytest.mark.parametrize(("dtype", "op"), [("bool", "sum"), ("int4", "sum"), ("int16", "min"), ("bfloat16", "product")])
def test_a_dtype_streams_as_it_folds(dtype: str, op: str, opencl: Any, make_case: Any, agree: Any) -> None:
    case = make_case("all_reduce", drawn(dtype), op=op)
    agree(case, opencl(**ALWAYS, past_from=1).execute(case))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", NUMPY)
def test_every_dtype_streams_as_it_folds(dtype: str, opencl: Any, make_case: Any, agree: Any) -> None:
    left_out = {
        "bool": (), "integer": (), "float": ("and", "or", "xor"), "complex": ("and", "or", "xor", "max", "min"),
    }[kind(dtype)]  # fmt: skip
    for op in sorted(FOLDED - set(left_out)):
        case = make_case("all_reduce", drawn(dtype), op=op)
        agree(case, opencl(**ALWAYS, past_from=1).execute(case))
