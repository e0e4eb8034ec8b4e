"""Long rows are folded into several vectors: every element counts once, wherever the parts of a row end."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.opencl.render.vector_text import FAR, MANY, SUMS
from conformance.backends.opencl.settings import OUT_OF_REACH
from conformance.bench.graphs.tensors import GraphListing
from tests.backends.opencl.conftest import OpenBackend

LONG = MANY * SUMS * 16


@pytest.mark.parametrize("length", [LONG - 1, LONG, LONG + 16, LONG + 39, FAR - 1, FAR, FAR + 16, FAR + 55])
@pytest.mark.parametrize("fold", ["add", "max"])
def test_each_element_of_a_long_row_counts_once(fold: str, length: int, opencl: OpenBackend) -> None:
    # Sums of these integers are exact in any order, and the greatest is in another row at another end.
    content = np.random.default_rng(7).integers(-4, 5, (3, length)).astype(np.float32)
    content[0, 0], content[1, -1], content[2, length // 4 * 3] = 9, 10, 11
    listing = GraphListing()
    asked = listing.buffer(3, length).reduce(fold, 1)
    running = opencl(split_from=OUT_OF_REACH).graphs.held(listing.case((asked,)), {"b0": content}).launch()
    wanted = {"add": content.sum(1), "max": content.max(1)}
    np.testing.assert_array_equal(running.read(asked.node.id), wanted[fold])


@pytest.mark.parametrize("fold", ["max", "min"])
@pytest.mark.parametrize("at", [0, 1, 17, LONG - 1, LONG + 6])
def test_what_has_no_order_decides_a_long_row(fold: str, at: int, opencl: OpenBackend) -> None:
    # A row with one NaN, one of zeros where one has another sign, and one of infinities.
    content = np.stack([np.full(LONG + 7, each, np.float32) for each in (2, -0.0 if fold == "max" else 0.0, np.inf)])
    content[:, at] = np.nan, 0.0 if fold == "max" else -0.0, -np.inf
    listing = GraphListing()
    asked = listing.buffer(*content.shape).reduce(fold, 1)
    running = opencl().graphs.held(listing.case((asked,)), {"b0": content}).launch()
    nan, zero, infinity = running.read(asked.node.id)
    assert np.isnan(nan)
    assert (zero, np.signbit(zero)) == (0, fold == "min")
    assert infinity == (np.inf if fold == "max" else -np.inf)


@pytest.mark.parametrize("shape", [(2, 2**20), (2**11 + 1, 1040), (3, 2**20 + 8)])
def test_what_is_stored_past_the_caches_is_all_there(shape: tuple[int, int], opencl: OpenBackend) -> None:
    content = np.random.default_rng(7).integers(-4, 5, shape).astype(np.float32)
    listing = GraphListing()
    taken = listing.buffer(*shape)
    asked = taken * taken + 1.0
    running = opencl().graphs.held(listing.case((asked,)), {"b0": content}).launch()
    np.testing.assert_array_equal(running.read(asked.node.id), content * content + 1)


def test_powers_of_two_are_exact_at_whole_numbers(opencl: OpenBackend) -> None:
    # NumPy's own exp2 is not, at 127.
    whole = np.arange(-400, 400)
    listing = GraphListing()
    asked = listing.buffer(*whole.shape).alu("exp2")
    running = opencl().graphs.held(listing.case((asked,)), {"b0": whole.astype(np.float32)}).launch()
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(running.read(asked.node.id), np.ldexp(np.float32(1), whole))
