"""Multi-device tensors mean what the reference says, whichever way reductions are lowered."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import psutil
import pytest

from conformance.backends.tinygrad import TinyGrad, device
from conformance.cases.tensor.dtypes import NUMPY

UNSORTED = ((2, 0), (1, 3))


@pytest.mark.parametrize("op", ["sum", "max", "min", "product"])
def test_reductions_over_a_sharded_axis(mode: TinyGrad, one: Any, agrees: Any, op: str) -> None:
    agrees(mode, one("all_reduce", 3, op=op, shape=(5,)))


def test_every_algorithm_reduces_in_chunks_of_any_size(mode: TinyGrad, one: Any, agrees: Any) -> None:
    agrees(mode, one("all_reduce", 4, op="sum", shape=(16,), dtype=np.float32))
    agrees(mode, one("all_reduce", 3, op="max", shape=(7,), dtype=np.uint8))


def test_groups_reduce_alone_and_in_their_order(mode: TinyGrad, one: Any, agrees: Any) -> None:
    agrees(mode, one("all_reduce", 4, op="sum", groups=((3, 1, 0), (2,))))
    agrees(mode, one("all_gather", 4, axis=0, tiled=True, groups=UNSORTED))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "bfloat16", "float8_e4m3fn", "float64"])
def test_sums_keep_their_dtype(tinygrad: TinyGrad, one: Any, agrees: Any, dtype: str) -> None:
    agrees(tinygrad, one("all_reduce", 2, op="sum", shape=(2,), dtype=NUMPY[dtype]))


@pytest.mark.parametrize("op", ["and", "or", "sum"])
def test_truth_has_its_reductions(tinygrad: TinyGrad, one: Any, agrees: Any, op: str) -> None:
    agrees(tinygrad, one("all_reduce", 2, op=op, shape=(2,), dtype=np.bool_))


@pytest.mark.parametrize("axes", [(0,), (-1,), (0, 1)])
def test_local_axes_stand_behind_the_axis_of_ranks(
    tinygrad: TinyGrad, one: Any, agrees: Any, axes: tuple[int, ...]
) -> None:
    agrees(tinygrad, one("all_reduce", 2, op="sum", shape=(2, 3), local_axes=axes))


def test_an_axis_before_the_axis_of_ranks_is_refused(tinygrad: TinyGrad, one: Any) -> None:
    seen = tinygrad.execute(one("all_reduce", 2, op="sum", shape=(2, 3), local_axes=(-3,)))
    assert {error.kind for error in seen.errors if error} == {"IndexError"}


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("tiled", [True, False])
def test_blocks_are_joined_along_any_axis(tinygrad: TinyGrad, one: Any, agrees: Any, axis: int, tiled: bool) -> None:
    agrees(tinygrad, one("all_gather", 2, shape=(2, 3), axis=axis, tiled=tiled))
    agrees(tinygrad, one("gather", 2, shape=(2, 3), axis=axis, tiled=tiled, root=1))


@pytest.mark.parametrize("shape", [(), (0,), (2, 2)])
def test_blocks_go_from_the_root_to_all(tinygrad: TinyGrad, one: Any, agrees: Any, shape: tuple[int, ...]) -> None:
    agrees(tinygrad, one("broadcast", 4, shape=shape, root=1, groups=UNSORTED))
    if shape:
        agrees(tinygrad, one("scatter", 4, shape=shape, axis=-1, tiled=True, root=1, groups=UNSORTED))


@pytest.mark.parametrize("op", ["max", "min"])
def test_positions_of_extremes(tinygrad: TinyGrad, one: Any, agrees: Any, op: str) -> None:
    agrees(tinygrad, one("arg_reduce", 3, op=op, shape=(2,)))


def test_what_tinygrad_has_not_is_unsupported(tinygrad: TinyGrad, one: Any) -> None:
    asked = [
        one("all_reduce", 2, op="xor"),
        one("all_reduce", 2, op="sum", dtype=np.complex64),
        one("scatter", 2, shape=(2,), axis=0, tiled=False, root=0),
        one("permute", 2, pairs=()),
        *(one("broadcast", 2, root=root) for root in (2, -1)),
        *(one(op, 2, axis=0, tiled=True, root=2) for op in ("gather", "scatter")),
        one("all_gather", 1, shape=(1,), axis=1, tiled=True),
    ]
    for case in asked:
        assert {error.category for error in tinygrad.execute(case).errors if error} == {"unsupported"}


def test_kernels_are_compiled_in_the_process_of_the_backend(mode: TinyGrad, one: Any, agrees: Any) -> None:
    before = psutil.Process().children()
    agrees(mode, one("all_reduce", 4, op="sum", shape=(67,)))
    assert psutil.Process().children() == before


def test_claims_name_worlds_that_have_a_device_for_each_rank(tinygrad: TinyGrad) -> None:
    assert {limits["world"][-1] for limits in tinygrad.claims.values() if "world" in limits} == {"8"}


def test_a_dtype_that_the_compiler_does_not_know_is_claimed_nowhere(
    tinygrad: TinyGrad, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tinygrad, "_without", ("bfloat16",))
    assert not [op for op, limits in tinygrad.claims.items() if "bfloat16" in limits.get("dtype", ())]


@pytest.mark.parametrize(("compiler", "chosen"), [("/usr/bin/clang", "CPU"), (None, "PYTHON")])
def test_without_a_compiler_kernels_are_interpreted(
    compiler: str | None, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEV", raising=False)
    monkeypatch.setattr(device.shutil, "which", lambda name: compiler)
    name, note = device.choice()
    assert name == chosen
    assert ("install clang" in note) == (compiler is None)


@pytest.mark.parametrize("found", ["clang", "clang-19"])
def test_a_compiler_is_found_under_a_name_with_its_version(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(device.shutil, "which", lambda name: f"/usr/bin/{name}" if name == found else None)
    assert device.compiler() == found


@pytest.mark.skipif(find_spec("tinygrad") is None, reason="tinygrad is not installed")
def test_a_device_that_needs_a_compiler_does_not_start_without_one() -> None:
    code = "from conformance.backends.tinygrad.device import start; start()"
    without = {**os.environ, "DEV": "CPU", "CC": "no-such-compiler"}
    ended = subprocess.run([sys.executable, "-c", code], env=without, capture_output=True, text=True, check=False)
    assert "NoCompilerError: tinygrad compiles this by no-such-compiler, which is not installed" in ended.stderr
