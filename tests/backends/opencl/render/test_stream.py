"""Streaming kernels: the same bits as the others, around every length of a block, on every way of storing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph.node import Buffer, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.render.kernels import BLOCK, VECTOR_BLOCK, Body, Stream
from conformance.backends.opencl.render.streams import render_stream
from conformance.backends.opencl.schedule.item import Kernel, Region, Work
from conformance.backends.opencl.schedule.nontemporal import nontemporal_stores
from conformance.backends.opencl.schedule.schedule import schedule
from conformance.backends.opencl.schedule.stream import FOLDED, streamed
from conformance.backends.opencl.settings import Settings
from conformance.cases.tensor.dtypes import DRAWN, NUMPY, kind

ALWAYS = {"stream_from": 1}
SUM = Body("sum", "float32", "float32")
RUN = View((100,), (1,))


def streams(body: Body = SUM, **changed: Any) -> Any:
    given: dict[str, Any] = {"first": 0, "size": 100, "loads": ((0, RUN), (1, RUN)), "stores": ((0, RUN),), **changed}
    return streamed(body, Work(**given), Settings(stream_from=100)).stream


def test_only_long_runs_of_a_plain_fold_stream() -> None:
    assert streams() == (2, 1, 0.0)
    assert streams(size=99) is None
    assert streams(mode="divide") is None
    assert streams(loads=((0, RUN), (0, RUN))) is None
    assert streams(stores=((0, View((100,), (2,))),)) is None
    assert streams(Body("move", "4", "4")) is None


def test_a_body_that_does_not_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="fold_float32_float32 streams nothing"):
        render_stream(SUM)


@pytest.mark.parametrize("cached", [0, 2**62])
@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, VECTOR_BLOCK, VECTOR_BLOCK + 1, 2 * VECTOR_BLOCK + 5])
def test_runs_around_a_block_are_exact(size: int, cached: int, opencl: Any, make_case: Any, agree: Any) -> None:
    blocks = [np.random.default_rng(rank).standard_normal(size).astype(np.float32) for rank in range(3)]
    for layouts in (("contiguous",) * 3, ("offset", "contiguous", "strided")):
        for op, attrs in (
            ("all_reduce", {"op": "sum"}),
            ("all_reduce", {"op": "max"}),
            ("all_gather", {"axis": 0, "tiled": True}),
        ):
            case = make_case(op, blocks, layouts=layouts, **attrs)
            agree(case, opencl(**ALWAYS, cached=cached).execute(case))


@pytest.mark.parametrize("cached", [0, 2**62])
@pytest.mark.parametrize("run", [VECTOR_BLOCK - 1, VECTOR_BLOCK, VECTOR_BLOCK + 1, 2 * VECTOR_BLOCK + 8])
def test_rows_around_a_block_are_exact(run: int, cached: int, opencl: Any, make_case: Any, agree: Any) -> None:
    blocks = [np.random.default_rng(rank).standard_normal((3, 2 * run)).astype(np.float32) for rank in range(2)]
    for layouts in (("contiguous",) * 2, ("offset", "strided")):
        case = make_case("all_to_all", blocks, layouts=layouts, split_axis=1, concat_axis=0, tiled=True)
        agree(case, opencl(**ALWAYS, cached=cached).execute(case))


def kernels(cached: int, size: int) -> list[Kernel]:
    """Return the streaming kernels of an all_reduce of 4 ranks."""
    blocks = tuple(whole(Buffer(rank, "float32", size, "x"), (size,)) for rank in range(4))
    made = collective("all_reduce", blocks, {"op": "sum"}, ((0, 1, 2, 3),))
    settings = Settings(stream_from=1, cached=cached)
    items = schedule(tuple(lowering(made, (0, 1, 2, 3), "direct").values()), 128, settings=settings).items
    return [item for item in items if isinstance(item, Kernel) and item.body.stream is not None]


def reduced(cached: int, size: int = 4096) -> list[float]:
    """Return for each kernel of an all_reduce of 4 ranks what share of its 4 stores goes past the caches."""
    return [kernel.body.stream.nontemporal for kernel in kernels(cached, size) if kernel.body.stream is not None]


@pytest.mark.parametrize(("held", "past"), [(0, 1.0), (4, 1.0), (5, 0.75), (6, 0.5), (6.5, 0.375), (8, 0.0), (9, 0.0)])
def test_as_much_is_stored_past_the_caches_as_they_do_not_hold(held: float, past: float) -> None:
    assert reduced(int(held * 4 * 4096)) == [past] * 4


@pytest.mark.parametrize("op", ["sum", "max"])
@pytest.mark.parametrize("held", [4.1, 5, 6.5, 7.9])
def test_any_share_past_the_caches_is_exact(held: float, op: str, opencl: Any, make_case: Any, agree: Any) -> None:
    cached = int(held * 4 * 4096)
    assert all(0 < past < 1 for past in reduced(cached))
    case = make_case(
        "all_reduce", [np.random.default_rng(rank).standard_normal(4096, "f4") for rank in range(4)], op=op
    )
    agree(case, opencl(**ALWAYS, cached=cached).execute(case))


def test_sizes_alone_never_ask_for_another_kernel() -> None:
    found = [kernel.body for size in range(2**10, 2**15, 2**10) for kernel in kernels(2**17, size)]
    shares = {body.stream.nontemporal for body in found if body.stream is not None}
    assert {0.0, 1.0} < shares
    assert {body.kernel for body in found} == {"stream_sum_float32_float32_4_4"}


def test_the_devices_say_what_their_caches_hold(opencl: Any) -> None:
    engine = opencl().engine
    assert engine.settings.cached == engine.session.platform.cached * 3 // 4 > 0
    assert opencl(cached=7).engine.settings.cached == 7


def test_what_no_vector_is_aligned_to_is_stored_plainly() -> None:
    assert reduced(0, size=4100) == [1.0] * 4
    work = Work(0, 64, ((0, View((64,), (1,))),), ((0, View((64,), (1,), 1)),))
    target, source = (Region(Buffer(0, "float32", 80, name), 0, 80) for name in "yx")
    item = Kernel(0, (), (), SUM._replace(stream=Stream(1, 1)), (target,), (source,), (work,))
    assert nontemporal_stores([item], [320, 320], 0) == [item]


def drawn(dtype: str) -> list[Any]:
    bits = np.random.default_rng(5).integers(0, 2, (2, 300)) if kind(dtype) == "bool" else None
    if bits is None:
        bits = np.random.default_rng(5).integers(0 if dtype.startswith("u") else -3, 4, (2, 300))
    return list(bits.astype(NUMPY[dtype]))


@pytest.mark.parametrize(("dtype", "op"), [("bool", "sum"), ("int4", "sum"), ("int16", "min"), ("bfloat16", "product")])
def test_a_dtype_streams_as_it_folds(dtype: str, op: str, opencl: Any, make_case: Any, agree: Any) -> None:
    case = make_case("all_reduce", drawn(dtype), op=op)
    agree(case, opencl(**ALWAYS, cached=0).execute(case))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DRAWN)
def test_every_dtype_streams_as_it_folds(dtype: str, opencl: Any, make_case: Any, agree: Any) -> None:
    left_out = {
        "bool": (), "integer": (), "float": ("and", "or", "xor"), "complex": ("and", "or", "xor", "max", "min"),
    }[kind(dtype)]  # fmt: skip
    for op in sorted(FOLDED - set(left_out)):
        case = make_case("all_reduce", drawn(dtype), op=op)
        agree(case, opencl(**ALWAYS, cached=0).execute(case))


@pytest.mark.parametrize("op", ["all_gather", "broadcast"])
def test_a_block_that_many_want_is_read_once(op: str) -> None:
    blocks = tuple(whole(Buffer(rank, "float32", 64, "x"), (64,)) for rank in range(4))
    attrs: dict[str, Any] = {"axis": 0, "tiled": True} if op == "all_gather" else {"root": 2}
    made = collective(op, blocks, attrs, ((0, 1, 2, 3),))
    plan = schedule(tuple(lowering(made, (0, 1, 2, 3), "direct").values()), 128, settings=Settings(stream_from=64))
    kernels = [item for item in plan.items if isinstance(item, Kernel)]
    assert [kernel.body.stream for kernel in kernels] == [(1, 4, 0.0)] * (4 if op == "all_gather" else 1)
    assert all(kernel.device == kernel.sources[0].node.device for kernel in kernels)
    assert [target.node.device for target in kernels[0].targets] == [0, 1, 2, 3]


def test_parts_that_cannot_be_sub_buffers_are_gathered_where_they_go() -> None:
    blocks = tuple(whole(Buffer(rank, "float32", 64, "x"), (64,)) for rank in range(4))
    made = collective("all_gather", blocks, {"axis": 0, "tiled": True}, ((0, 1, 2, 3),))
    results = tuple(lowering(made, (0, 1, 2, 3), "direct").values())
    items = schedule(results, 4096, settings=Settings(stream_from=64)).items
    # The first part begins where any sub-buffer may.
    assert [len(item.accesses) for item in items] == [5, 4, 4, 4, 4]


@pytest.mark.parametrize(
    "dtype", [d if d in ("bool", "complex128") else pytest.param(d, marks=pytest.mark.slow) for d in DRAWN]
)
def test_every_width_moves_every_bit(dtype: str, opencl: Any, make_case: Any, agree: Any) -> None:
    width = NUMPY[dtype].itemsize
    bits = np.random.default_rng(3).integers(0, 16 if "int4" in dtype else 2 if dtype == "bool" else 256, 320 * width)
    block = bits.astype(np.uint8).view(NUMPY[dtype])
    for op, attrs in (
        ("all_gather", {"axis": 0, "tiled": True}),
        ("all_to_all", {"split_axis": 0, "concat_axis": 0, "tiled": True}),
    ):
        case = make_case(op, [block, block[::-1].copy()], **attrs)
        agree(case, opencl(**ALWAYS, cached=0).execute(case))
