"""A view: which elements of a storage, in which order. All numbers are elements, never bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec


class View(msgspec.Struct, frozen=True):
    """Element ``index`` lies at ``offset + sum(index * strides)``; strides may be zero or negative."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def span(self) -> tuple[int, int]:
        """Return the half-open range of storage elements the view may touch; empty for an empty view."""
        low = high = self.offset
        for extent, stride in zip(self.shape, self.strides, strict=True):
            if extent == 0:
                return self.offset, self.offset
            reach = (extent - 1) * stride
            if reach < 0:
                low += reach
            else:
                high += reach
        return low, high + 1

    @property
    def once(self) -> View:
        """Return the view without repetition: of axes along which nothing moves, the first index only."""
        shape = tuple(
            extent if stride else min(extent, 1) for extent, stride in zip(self.shape, self.strides, strict=True)
        )
        return View(shape, self.strides, self.offset)

    def narrow(self, axis: int, start: int, stop: int) -> View:
        """Return the view of ``start`` to ``stop`` along ``axis``."""
        shape = (*self.shape[:axis], stop - start, *self.shape[axis + 1 :])
        return View(shape, self.strides, self.offset + start * self.strides[axis])

    def index(self, axis: int, at: int) -> View:
        """Return the view of one slice, without ``axis``."""
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        strides = self.strides[:axis] + self.strides[axis + 1 :]
        return View(shape, strides, self.offset + at * self.strides[axis])

    def last(self, axes: Sequence[int]) -> View:
        """Return the view with ``axes``, in that order, after all others."""
        order = [*(axis for axis in range(len(self.shape)) if axis not in axes), *axes]
        return View(tuple(self.shape[a] for a in order), tuple(self.strides[a] for a in order), self.offset)

    def split(self, axes: int) -> tuple[View, View]:
        """Return the view of all but the last ``axes`` axes, and that of those alone, from element 0 on."""
        at = len(self.shape) - axes
        return View(self.shape[:at], self.strides[:at], self.offset), View(self.shape[at:], self.strides[at:])

    def window(self, parts: Sequence[range], order: Sequence[int]) -> View:
        """Return the view of the indices ``parts``, one range an axis, with the axes in that order."""
        axes = order or range(len(parts))
        offset = self.offset + sum(s * part[0] for s, part in zip(self.strides, parts, strict=True) if part)
        strides = [stride * part.step for stride, part in zip(self.strides, parts, strict=True)]
        return View(tuple(len(parts[axis]) for axis in axes), tuple(strides[axis] for axis in axes), offset)

    def shifted(self, by: int) -> View:
        """Return the same view of a storage that begins ``by`` elements earlier."""
        return View(self.shape, self.strides, self.offset + by)


@lru_cache(maxsize=1 << 12)
def contiguous(shape: tuple[int, ...]) -> View:
    """Return the C-order view of a storage of exactly that many elements."""
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return View(shape, tuple(reversed(strides)))


def coalesced(views: tuple[View, ...]) -> tuple[View, ...]:
    """Return views of one shape with adjacent axes merged wherever every view allows, so indexing divides less."""
    shape, strides = _merged(views[0].shape, tuple(view.strides for view in views))
    return tuple(View(shape, each, view.offset) for each, view in zip(strides, views, strict=True))


@lru_cache(maxsize=1 << 12)
def _merged(
    shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return the shape and the strides of each view with axes merged. The ranks of a step ask for the same ones."""
    kept = [axis for axis, extent in enumerate(shape) if extent != 1]
    if not kept:
        return (1,), tuple((0,) for _ in strides)
    merged = [shape[kept[0]]]
    found = [[each[kept[0]]] for each in strides]
    for axis in kept[1:]:
        extent = shape[axis]
        if all(new[-1] == each[axis] * extent for new, each in zip(found, strides, strict=True)):
            merged[-1] *= extent
            for new, each in zip(found, strides, strict=True):
                new[-1] = each[axis]
        else:
            merged.append(extent)
            for new, each in zip(found, strides, strict=True):
                new.append(each[axis])
    return tuple(merged), tuple(tuple(each) for each in found)
