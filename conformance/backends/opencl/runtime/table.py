"""Sizes, strides and offsets of every launch of a schedule, as one table of 64-bit integers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.render.kernels import MODES
from conformance.backends.opencl.schedule.item import Kernel, Work

FIRST: Final = 1
"""Where the first part record is listed. Launches find theirs by their global offset, and PoCL builds a kernel once for
the offset 0 and once for all others, at 0.2 to 0.4 s each."""


def table(kernels: Iterable[Kernel]) -> tuple[NDArray[np.int64], dict[Kernel, int]]:
    """Return the table, laid out as ``render`` says, and where each kernel's part records are listed in it."""
    works: list[tuple[int, int, Work]] = []
    begins: dict[Kernel, int] = {}
    for kernel in kernels:
        begins[kernel] = FIRST + len(works)
        works.extend((kernel.body.code, _mode(kernel, work), work) for work in kernel.works)
    starts: list[int] = [0] * FIRST
    records: list[int] = []
    for code, mode, work in works:
        starts.append(FIRST + len(works) + len(records))
        shape = (*work.loads, *work.stores)[0][1].shape
        within = work.within or (View((), ()),) * len(work.loads)
        records += (work.size, work.first, len(shape), len(within[0].shape) if within else 0)
        records += (len(work.loads), len(work.stores), code, mode, work.scalar)
        records += (*shape, *(within[0].shape if within else ()))
        for (slot, view), inner in zip(work.loads, within, strict=True):
            records += (slot, view.offset, *view.strides, *inner.strides)
        for slot, view in work.stores:
            records += (slot, view.offset, *view.strides)
    return np.array(starts + records, np.int64), begins


def _mode(kernel: Kernel, work: Work) -> int:
    """Return the number of the mode, or for a streaming kernel the elements that it stores past the caches."""
    stream = kernel.body.stream
    return MODES.index(work.mode) if stream is None else round(stream.nontemporal * stream.stores * work.size)
