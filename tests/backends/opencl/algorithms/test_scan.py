"""Prefix reductions on the devices: every reduction of every dtype, and every algorithm that can be forced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.settings import ALGORITHMS
from conformance.cases.tensor.dtypes import DRAWN, NUMPY
from conformance.generate.calls.mistakes import accepted


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("exclusive", [False, True])
def test_members_count_in_the_order_of_their_group(
    algorithm: str, exclusive: bool, opencl: Any, make_case: Any, agree: Any
) -> None:
    blocks = [np.arange(300, dtype=np.int32) * 3**rank for rank in range(4)]
    case = make_case("scan", blocks, groups=((2, 0, 3), (1,)), op="sum", exclusive=exclusive)
    agree(case, opencl(force=algorithm).execute(case))


@pytest.mark.parametrize("dtype", DRAWN)
def test_every_dtype_has_its_reductions_of_no_blocks_and_of_some(
    dtype: str, opencl: Any, make_case: Any, agree: Any
) -> None:
    for op in accepted(dtype):
        case = make_case("scan", [np.ones(3, NUMPY[dtype])] * 3, op=op, exclusive=op != "mean")
        agree(case, opencl().execute(case))
