"""Products of matrices, found as a sum of products of two loads, and gone over by blocks that stay in the caches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from conformance.backends.opencl.graph.node import Launch
from conformance.cases.schedule.kernel_body import Alu, Load, Reduce

TALL: Final = 8
"""Rows whose sums lie in registers at once, two vectors of each."""

ROWS: Final = 64
"""Rows of a work-item."""

COLUMNS: Final = 32
"""Columns of a work-item: two vectors."""

DEEP: Final = 256
"""Terms that are added before the next are fetched: so much of the right matrix, 32 KiB, stays in the nearest cache."""


class Product(NamedTuple):
    """A fold that is a product of matrices: its number, the loads of both sides, and the axes of the launch.

    Axis ``row`` is that of the left side alone, ``column`` that of the right one alone, and ``fold`` is folded away.
    """

    fold: int
    left: int
    right: int
    row: int
    column: int
    deep: int


def form(launch: Launch, depends: Sequence[frozenset[int]]) -> Product | None:
    """Return the product that a launch of float32 is made of, or ``None``.

    It is one sum of products of two loads, of which one does not depend on the last axis that is stored, and the other
    lies side by side along that and does not depend on the axis before.
    """
    lines = launch.instructions
    folds = [number for number, line in enumerate(lines) if isinstance(line, Reduce)]
    column, row = launch.outer - 1, launch.outer - 2
    if len(folds) != 1 or row < 0:
        return None
    line = lines[folds[0]]
    assert isinstance(line, Reduce)
    times = lines[line.of]
    if line.op != "add" or len(line.axes) != 1 or not isinstance(times, Alu) or times.op != "mul":
        return None
    right, left = sorted(times.of, key=lambda number: column not in depends[number])
    deep = line.axes[0]
    if not isinstance(lines[left], Load) or not isinstance(lines[right], Load) or not _long(launch, row, column, deep):
        return None
    free = column not in depends[left] and row not in depends[right] and row in depends[left]
    return Product(folds[0], left, right, row, column, deep) if free and _beside(launch, right, column) else None


def _long(launch: Launch, row: int, column: int, deep: int) -> bool:
    extents = launch.extents
    return extents[row] >= 2 * TALL and extents[column] % COLUMNS == 0 and extents[deep] >= COLUMNS


def _beside(launch: Launch, number: int, column: int) -> bool:
    """Return whether a load lies side by side along an axis, and so does all that is stored and read beside it."""
    for found in (*(found for _, found in launch.reads), *(found for found, _ in launch.stores)):
        if found[0].mask is not None or found[0].strides[column] not in (0, 1):
            return False
    line = launch.instructions[number]
    assert isinstance(line, Load)
    stored = all(found[0].strides[column] == 1 for found, _ in launch.stores)
    return stored and launch.reads[line.access][1][0].strides[column] == 1


def geometry(launch: Launch) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of work-items: those of one column follow each other, so that its block is fetched once."""
    extents = launch.extents[: launch.outer]
    return (-(-extents[-2] // ROWS), extents[-1] // COLUMNS, math.prod(extents[:-2])), (1, 1, 1)
