"""Kernels that were merged say why, as those say that are apart."""

from __future__ import annotations

from conformance.backends.opencl.fuse.partition import POINT_BY_POINT, SAME_STORAGE
from conformance.bench.graphs.tensors import GraphListing
from tests.backends.opencl.conftest import OpenBackend


def test_a_kernel_that_stores_two_values_says_why(opencl: OpenBackend) -> None:
    listing = GraphListing()
    given = listing.buffer(8)
    first = given * 3.0
    (chained,) = opencl().explain(listing.case((first, first + 1.0)))[0].steps
    assert chained.reason.endswith(POINT_BY_POINT)
    listing = GraphListing()
    given = listing.buffer(8)
    (beside,) = opencl().explain(listing.case((given * 3.0, given + 1.0)))[0].steps
    assert beside.reason.endswith(SAME_STORAGE)
