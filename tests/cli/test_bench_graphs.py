"""``conformance bench graphs --counts``: the native engine makes no more kernels than tinygrad's tests expect."""

from __future__ import annotations

from conformance.backends.opencl import OpenCL
from conformance.bench.graphs.counts import counted


def test_no_row_has_more_kernels_than_expected() -> None:
    found = counted([("opencl", OpenCL())])
    counts = {row.number: row.kernels["opencl"] for row in found}
    assert [row.number for row in found if (counts[row.number] or 0) > row.most or row.errors] == []
    assert sum((counts[row.number] or 0) <= row.least for row in found) >= 0.9 * len(found) >= 90
