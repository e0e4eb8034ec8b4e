"""Each operation on real Gloo ranks means what the reference says."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from conformance.backends.torch import Torch, TorchFunctional
from conformance.cases.case import Case
from conformance.cases.tensor import from_array
from conformance.reference.spmd import evaluate

Make = Callable[..., Case]

UNSORTED = ((2, 0), (1, 3))


def agrees(backend: Torch, asked: Case) -> None:
    seen = backend.execute(asked)
    assert seen.errors == ()
    assert seen.results["y"] == tuple(from_array(block) for block in evaluate(asked)["y"])
    assert seen.touched == ()


@pytest.mark.parametrize("op", ["sum", "product", "max", "min"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64, ml_dtypes.bfloat16])
def test_all_reduce_folds_every_dtype(torch: Torch, case: Make, op: str, dtype: type) -> None:
    agrees(torch, case("all_reduce", 2, op=op, dtype=dtype))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_all_gather_joins_at_any_axis(torch: Torch, case: Make, axis: int) -> None:
    if axis != 0:  # Gloo refuses the stacked form of all_gather_single.
        agrees(torch, case("all_gather", 3, shape=(2, 3), axis=axis, tiled=False))
    if axis not in (2, -3):
        agrees(torch, case("all_gather", 3, shape=(2, 3), axis=axis, tiled=True))


@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("op", ["sum", "max"])
def test_reduce_scatter_keeps_its_piece(torch: Torch, case: Make, axis: int, op: str) -> None:
    agrees(torch, case("reduce_scatter", 2, shape=(4, 6), op=op, axis=axis, tiled=True))
    if axis == 1:
        agrees(torch, case("reduce_scatter", 2, shape=(4, 2), op=op, axis=axis, tiled=False))


@pytest.mark.parametrize(("split", "concat"), [(0, 0), (0, 1), (1, 0), (-1, -2)])
@pytest.mark.parametrize("tiled", [True, False])
def test_all_to_all_splits_and_joins_anywhere(torch: Torch, case: Make, split: int, concat: int, tiled: bool) -> None:
    agrees(torch, case("all_to_all", 2, shape=(2, 2), split_axis=split, concat_axis=concat, tiled=tiled))


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2), (2, 0)), ((2, 0),), ()])
def test_permute_moves_and_leaves_zeros(torch: Torch, case: Make, pairs: tuple[tuple[int, int], ...]) -> None:
    agrees(torch, case("permute", 3, pairs=pairs))


def test_broadcast_counts_the_root_in_the_group(torch: Torch, case: Make) -> None:
    agrees(torch, case("broadcast", 4, root=0, groups=UNSORTED))
    agrees(torch, case("broadcast", 4, root=1, groups=UNSORTED))


def test_groups_keep_the_order_they_are_given_in(torch: Torch, case: Make) -> None:
    agrees(torch, case("all_gather", 4, axis=0, tiled=True, groups=UNSORTED))
    agrees(torch, case("permute", 4, pairs=((0, 1),), groups=UNSORTED))
    agrees(torch, case("all_reduce", 4, op="sum", groups=((3, 1, 0), (2,))))


@pytest.mark.parametrize("layout", ["strided", "transposed", "broadcast", "offset"])
def test_layouts_reach_torch_as_strides(torch: Torch, case: Make, layout: str) -> None:
    agrees(torch, case("all_reduce", 2, shape=(2, 3), op="sum", layout=layout))
    agrees(torch, case("all_gather", 2, shape=(2, 3), axis=1, tiled=True, layout=layout))


@pytest.mark.parametrize("layout", ["contiguous", "strided", "transposed"])
def test_functional_collectives_take_the_dimension(functional: TorchFunctional, case: Make, layout: str) -> None:
    agrees(functional, case("all_reduce", 2, shape=(2, 4), op="max", layout=layout))
    agrees(functional, case("all_gather", 2, shape=(2, 4), axis=1, tiled=True, layout=layout))
    agrees(functional, case("reduce_scatter", 2, shape=(2, 4), op="sum", axis=1, tiled=True, layout=layout))
    agrees(functional, case("broadcast", 2, shape=(2, 4), root=1, layout=layout))
