from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from conformance.backends.claim_limits import plain_claims
from conformance.backends.mlx import LARGEST, Mlx
from conformance.runner.claims import check_claims


def test_its_claims_are_right_without_mlx() -> None:
    check_claims(plain_claims(Mlx.claims))


@pytest.fixture(scope="module")
def mlx() -> Iterator[Mlx]:
    pytest.importorskip("mlx.core", reason="MLX is judged where it is installed")
    backend = Mlx()
    yield backend
    backend.close()


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int64", "bool"])
def test_each_group_is_a_ring_of_its_own(mlx: Mlx, dtype: str) -> None:
    from conformance.cases.tensor.dtypes import NUMPY

    blocks = [np.array([rank, 1], NUMPY[dtype]) for rank in range(LARGEST)]
    sums = mlx.all_reduce(blocks, op="max", groups=((0, 2), (3,), (1,)))
    assert [each.astype(int).tolist() for each in sums][:1] == [np.maximum(blocks[0], blocks[2]).astype(int).tolist()]
    assert [each.dtype for each in sums] == [blocks[0].dtype] * LARGEST
    gathered = mlx.all_gather(blocks, axis=0, tiled=True, groups=((1, 0), (2, 3)))
    assert gathered[0].astype(int).tolist() == np.concatenate([blocks[1], blocks[0]]).astype(int).tolist()
