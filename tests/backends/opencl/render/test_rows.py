"""Long rows are folded into several vectors: every element counts once, wherever the parts of a row end."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.opencl.render.vectors import FAR, MANY, SUMS
from conformance.backends.opencl.settings import OUT_OF_REACH
from conformance.bench.graphs.tensors import Listing
from tests.backends.opencl.conftest import OpenBackend

LONG = MANY * SUMS * 16


@pytest.mark.parametrize("length", [LONG - 1, LONG, LONG + 16, LONG + 39, FAR - 1, FAR, FAR + 16, FAR + 55])
@pytest.mark.parametrize("fold", ["add", "max"])
def test_each_element_of_a_long_row_counts_once(fold: str, length: int, opencl: OpenBackend) -> None:
    # Sums of these integers are exact in any order, and the greatest is in another row at another end.
    content = np.random.default_rng(7).integers(-4, 5, (3, length)).astype(np.float32)
    content[0, 0], content[1, -1], content[2, length // 4 * 3] = 9, 10, 11
    listing = Listing()
    asked = listing.buffer(3, length).reduce(fold, 1)
    running = opencl(split_from=OUT_OF_REACH).graphs.held(listing.case((asked,)), {"b0": content}).launch()
    wanted = {"add": content.sum(1), "max": content.max(1)}
    np.testing.assert_array_equal(running.read(asked.node.id), wanted[fold])
