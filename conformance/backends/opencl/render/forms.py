"""In which form vectors go over a launch of float32: along rows, columns, tiles, or as a product of matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from conformance.backends.opencl.graph.node import Launch, sources
from conformance.backends.opencl.render import matmul_form
from conformance.backends.opencl.render.lanes import known
from conformance.backends.opencl.render.point import Text
from conformance.cases.schedule.kernel_body import Constant, Load, Reduce, Store

WIDTH: Final = 16
"""Elements of a vector: 64 bytes of float32."""

LEAST: Final = 2 * WIDTH
"""Extent from which an axis is gone along by vectors."""

RUN: Final = 2**14
"""Elements of a work-item that folds nothing."""

TILES: Final = 2**8
"""The same where loads are turned: next strips of tiles are then on pages that were used a moment ago.

A matrix of 2,048 x 2,048 turned and added to another took 3.0 ms, and 12 ms by whole rows of tiles; one of 512 x 512
took 58 us either way, and 61 us with 128 elements (Intel's, least of 96 runs on two cores that others kept busy).
"""

COLUMNS: Final = 512
"""Columns that a work-item folds at most: as many accumulators stay in the nearest cache."""

WHOLE: Final = 2**12
"""The same where rows are shared out too: 16 KiB of accumulators."""

ROWS: Final = 8
"""Rows, each of a work-item, from which they are shared out enough."""

POINTS: Final = 2**12
"""Elements that a work-group should have at least."""


class Form(NamedTuple):
    """How a launch is gone over.

    ``along`` is the axis of the vectors of what is stored, ``None`` where a work-item stores one point. A work-item
    has ``block`` elements along it. Of the folds, those of ``columns`` keep an accumulator for each of them, and the
    others are folded at once for all. ``tiles`` are the loads that lie side by side along ``across`` instead. A
    ``product`` of matrices, where the launch is one, has a way of its own.
    """

    along: int | None
    block: int
    columns: tuple[int, ...] = ()
    across: int | None = None
    tiles: tuple[int, ...] = ()
    product: matmul_form.Product | None = None


def form(launch: Launch) -> Form | None:
    """Return how a launch is gone over by vectors, or ``None`` where it is not."""
    return _Plan(launch).form() if launch.lanes and launch.outer else None


def geometry(launch: Launch, found: Form) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of work-items and of those of a group, along each axis."""
    if found.product is not None:
        return matmul_form.geometry(launch, found.product)
    extents = launch.extents[: launch.outer]
    if found.along is None:
        folded = math.prod(launch.extents[launch.outer :])
        local = max(1, min(64, POINTS // folded))
        return (-(-math.prod(extents) // local) * local,), (local,)
    length, rows = extents[-1], math.prod(extents[:-1])
    if found.across is not None:
        rows = rows // extents[found.across] * -(-extents[found.across] // WIDTH)
    local = 1 if found.columns else max(1, min(64, POINTS // length, rows))
    return (-(-length // found.block), -(-rows // local) * local), (1, local)


class _Plan:
    """What of a launch depends on what, to find its form."""

    def __init__(self, launch: Launch) -> None:
        self._launch, self._lines = launch, launch.instructions
        self._text = Text(launch)

    def form(self) -> Form | None:
        launch = self._launch
        folds = [number for number, line in enumerate(self._lines) if isinstance(line, Reduce)]
        maps = [found for _, found in launch.reads] + [found for found, _ in launch.stores]
        fitting = all(self._fits(number) for number in range(len(self._lines)))
        if not fitting or any(len(found) > 1 for found in maps) or any(self._nests(self._lines[n]) for n in folds):
            return None
        product = matmul_form.form(launch, self._text.depends)
        if product is not None:
            return Form(None, 1, product=product)
        last = launch.outer - 1
        columns = tuple(number for number in folds if last in self._text.depends[number])
        rows = [number for number in folds if number not in columns]
        if self._goes_along(last, [n for n in range(len(self._lines)) if n not in self._within(rows)]):
            length = launch.extents[last]
            if not columns:
                return Form(last, length if rows else RUN)
            return Form(last, self._columns(length, math.prod(launch.extents[:last])), columns)
        if folds and not rows and all(self._row(number) for number in folds):
            return Form(None, 1)
        return None if folds else self._tiled(last)

    def _columns(self, length: int, rows: int) -> int:
        """Return how many columns a work-item folds: all of them, if there are others for other rows."""
        share = length if rows >= ROWS else -(-length // 4)
        return max(WIDTH, min(WHOLE if rows >= ROWS else COLUMNS, -(-share // WIDTH) * WIDTH))

    def _fits(self, number: int) -> bool:
        line = self._lines[number]
        there = isinstance(line, Load | Constant | Store) or known(line)
        return there and self._text.dtypes[number] == "float32"

    def _nests(self, line: object) -> bool:
        return isinstance(line, Reduce) and self._text.nests(line)

    def _within(self, folds: Iterable[int]) -> set[int]:
        """Return what only folds need."""
        inside: set[int] = set()
        for number in folds:
            inside |= self._below(sources(self._lines[number])) | {number}
        outside: set[int] = set()
        stack = [number for number, line in enumerate(self._lines) if isinstance(line, Store)]
        while stack:
            number = stack.pop()
            if number not in outside:
                outside.add(number)
                line = self._lines[number]
                stack.extend(() if number in folds else sources(line))
        return inside - outside

    def _below(self, numbers: Iterable[int]) -> set[int]:
        found: set[int] = set()
        stack = list(numbers)
        while stack:
            number = stack.pop()
            if number not in found:
                found.add(number)
                stack.extend(sources(self._lines[number]))
        return found

    def _goes_along(self, axis: int, numbers: Iterable[int]) -> bool:
        """Return whether every load and store steps by one or none along an axis that is long enough."""
        return self._launch.extents[axis] >= LEAST and all(self._step(number, axis) in (0, 1) for number in numbers)

    def _step(self, number: int, axis: int) -> int:
        line = self._lines[number]
        if isinstance(line, Store):
            (found,), _ = self._launch.stores[line.access - len(self._launch.reads)]
            # What is stored has a place for each point.
            return 1 if found.strides[axis] == 1 and found.mask is None else 2
        if isinstance(line, Load):
            (found,) = self._launch.reads[line.access][1]
            return found.strides[axis]
        return 0

    def _row(self, number: int) -> bool:
        """Return whether a fold goes along its last axis by vectors, over no more than it folds itself."""
        line = self._lines[number]
        assert isinstance(line, Reduce)
        return self._goes_along(line.axes[-1], self._below([line.of]))

    def _tiled(self, last: int) -> Form | None:
        """Return the form of a launch whose loads lie side by side along one axis or another."""
        extents = self._launch.extents
        loads = [
            n for n, line in enumerate(self._lines) if isinstance(line, Load) and self._step(n, last) not in (0, 1)
        ]
        others = [n for n in range(len(self._lines)) if n not in loads]
        if not loads or extents[last] < LEAST or not self._goes_along(last, others):
            return None
        for axis in range(last):
            if extents[axis] >= LEAST and all(self._step(n, axis) == 1 and self._unmasked(n) for n in loads):
                return Form(last, TILES, (), axis, tuple(loads))
        return None

    def _unmasked(self, number: int) -> bool:
        line = self._lines[number]
        return isinstance(line, Load) and self._launch.reads[line.access][1][0].mask is None
