"""Sizes, strides and offsets of every launch of a schedule, as one table of 64-bit integers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from conformance.backends.opencl.schedule import Kernel, Work


def table(kernels: Iterable[Kernel]) -> tuple[NDArray[np.int64], dict[Kernel, int]]:
    """Return the table, laid out as ``render`` says, and where each kernel's part records are listed in it."""
    works: list[tuple[int, Work]] = []
    begins: dict[Kernel, int] = {}
    for kernel in kernels:
        begins[kernel] = len(works)
        works.extend((kernel.body.code, work) for work in kernel.works)
    starts: list[int] = []
    records: list[int] = []
    for code, work in works:
        starts.append(len(works) + len(records))
        accesses = (*work.loads, *work.stores)
        shape = accesses[0][1].shape
        records += (work.size, work.first, len(shape), len(work.loads), len(work.stores), code, *shape)
        for slot, view in accesses:
            records += (slot, view.offset, *view.strides)
    return np.array(starts + records, np.int64), begins
