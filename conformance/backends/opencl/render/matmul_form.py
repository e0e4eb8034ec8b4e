"""Products of matrices, found as a sum of products, and gone over by blocks that stay in the caches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from conformance.backends.opencl.graph.node import Launch, sources
from conformance.cases.schedule.kernel_body import Alu, Load, Reduce

WIDTH: Final = 16
"""Elements of a vector."""


class Tile(NamedTuple):
    """What of a product is computed at once: sums of ``tall`` rows, of ``vectors`` of columns each, lie in registers.

    A work-item has ``rows``, or ``many_rows`` where that leaves ``ENOUGH`` work-items and the left side is read in
    place. So the right side is fetched a quarter as often: products of 2,048 took 1.44 times the time of BLAS and 1.62
    with 64 rows, of 1,024 1.35 and 1.47, of 512 1.34 and 1.41 (Intel's runtime, 16 lanes, two quiet cores, medians of
    7 rounds). Both are multiples of ``tall``.
    """

    tall: int
    vectors: Literal[1, 2]
    rows: int
    many_rows: int


WIDE_TILE: Final = Tile(8, 2, 64, 256)
"""That of devices whose own vectors have 16 lanes or more: 16 of 32 registers are sums."""

NARROW_TILE: Final = Tile(6, 1, 48, 240)
"""That of others: 12 of 16 registers of 8 lanes are sums.

A product of 1,024 took 1.22 to 1.31 times as long as XLA's, and 1.75 with the other tile, whose sums do not fit
(Intel's runtime, AVX2, two quiet cores, medians of 9 rounds).
"""

ENOUGH: Final = 16

DEEP: Final = 256
"""Terms that are added before the next are fetched: so much of the right matrix, 32 KiB, stays in the nearest cache."""

BOTH: Final = 128
"""The same where the rows of a work-item are fetched too."""

LEAST: Final = 32
"""Terms from which fetching them pays."""


class Product(NamedTuple):
    """A fold that is a product of matrices: its number, both sides, and the axes of the launch.

    Axis ``row`` is that of the left side alone, ``column`` that of the right one alone, and ``deep`` is folded away.
    ``turned`` says that the right side lies side by side along ``deep``. ``packed`` is the axis along which rows of the
    left side are fetched by vectors, ``None`` where it is read where it lies.
    """

    fold: int
    left: int
    right: int
    row: int
    column: int
    deep: int
    turned: bool
    packed: int | None


def form(launch: Launch, depends: Sequence[frozenset[int]]) -> Product | None:
    """Return the product that a launch of float32 is made of, or ``None``.

    It is one sum of products, of which one side does not depend on the last axis that is stored, and the other not on
    the axis before. A side is a load, or what is computed of loads that lie side by side or do not move at all.
    """
    lines = launch.instructions
    folds = [number for number, line in enumerate(lines) if isinstance(line, Reduce)]
    column, row = launch.outer - 1, launch.outer - 2
    if len(folds) != 1 or row < 0 or any(found[0].mask is not None for _, found in launch.reads):
        return None
    line = lines[folds[0]]
    assert isinstance(line, Reduce)
    times = lines[line.of]
    if line.op != "add" or len(line.axes) != 1 or not isinstance(times, Alu) or times.op != "mul":
        return None
    right, left = sorted(times.of, key=lambda number: column not in depends[number])
    (deep,) = line.axes
    sides = {row, deep} <= depends[left] and {column, deep} <= depends[right]
    if not sides or column in depends[left] or row in depends[right] or not _long(launch, row, column, deep):
        return None
    reads = _Reads(launch)
    turned = not reads.beside(right, column)
    if turned and not reads.beside(right, deep):
        return None
    packed = next((axis for axis in (deep, row) if reads.beside(left, axis)), None)
    if reads.single(left) and packed == deep:
        packed = None
    fitting = (packed is not None or reads.single(left)) and reads.behind(folds[0], column)
    return Product(folds[0], left, right, row, column, deep, turned, packed) if fitting else None


class _Reads:
    """How the loads of a launch lie along an axis."""

    def __init__(self, launch: Launch) -> None:
        self._launch, self._lines = launch, launch.instructions

    def single(self, number: int) -> bool:
        """Return whether a value is a load."""
        return isinstance(self._lines[number], Load)

    def beside(self, number: int, axis: int) -> bool:
        """Return whether all that a value is made of lies side by side along an axis, or does not move along it."""
        found = {self._step(each, axis) for each in self._loads(number, set())}
        return found <= {0, 1} and 1 in found

    def behind(self, fold: int, axis: int) -> bool:
        """Return whether what is computed of a fold is stored side by side along an axis, of what lies so."""
        seen = {fold}
        roots = [each for number in range(len(self._lines)) for each in self._stored(number)]
        loads = [each for number in roots for each in self._loads(number, seen)]
        stored = all(found[0].strides[axis] == 1 and found[0].mask is None for found, _ in self._launch.stores)
        return stored and all(self._step(each, axis) in (0, 1) for each in loads)

    def _stored(self, number: int) -> tuple[int, ...]:
        last = len(self._lines) - len(self._launch.stores)
        return sources(self._lines[number]) if number >= last else ()

    def _step(self, number: int, axis: int) -> int:
        line = self._lines[number]
        assert isinstance(line, Load)
        return self._launch.reads[line.access][1][0].strides[axis]

    def _loads(self, number: int, seen: set[int]) -> list[int]:
        """Return the loads that a value is made of, but for what has been ``seen``."""
        found, stack = [], [number]
        while stack:
            each = stack.pop()
            if each in seen:
                continue
            seen.add(each)
            found += [each] if self.single(each) else []
            stack.extend(sources(self._lines[each]))
        return found


def _long(launch: Launch, row: int, column: int, deep: int) -> bool:
    extents = launch.extents
    return extents[row] >= WIDTH and extents[column] % WIDTH == 0 and extents[deep] >= LEAST


def tile(launch: Launch) -> Tile:
    """Return what of a launch is computed at once: one vector of columns where their number does not allow two."""
    found = WIDE_TILE if launch.lanes >= WIDTH else NARROW_TILE
    fits = launch.extents[launch.outer - 1] % (WIDTH * found.vectors) == 0
    return found if fits else found._replace(vectors=1)


def height(launch: Launch, product: Product) -> int:
    """Return how many rows a work-item has."""
    *rest, rows, columns = launch.extents[: launch.outer]
    found = tile(launch)
    items = math.prod(rest) * (rows // found.many_rows) * (columns // (WIDTH * found.vectors))
    return found.many_rows if product.packed is None and items >= ENOUGH else found.rows


def geometry(launch: Launch, product: Product) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of work-items: those of one column follow each other, so that its block is fetched once."""
    extents = launch.extents[: launch.outer]
    columns = extents[-1] // (WIDTH * tile(launch).vectors)
    return (-(-extents[-2] // height(launch, product)), columns, math.prod(extents[:-2])), (1, 1, 1)
