"""Conversion between any two dtypes: NumPy and ml_dtypes have none between some formats of few bits."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.graph.conversion import cast

ONE = {name: np.array([1.0]).astype(NUMPY[name]) for name in NUMPY}


@pytest.mark.parametrize("dtype", sorted(NUMPY))
def test_one_converts_from_every_dtype_to_every_other(dtype: str) -> None:
    for name, number in NUMPY.items():
        found = cast(ONE[dtype], name)
        assert found.dtype == number
        assert found.astype(np.complex128)[0] == 1


def test_a_conversion_to_the_same_dtype_keeps_the_bits_of_nans() -> None:
    nans = np.array([0x7D, 0xFE], np.uint8).view(NUMPY["float8_e5m2"])
    assert cast(nans, "float8_e5m2").tobytes() == nans.tobytes()
