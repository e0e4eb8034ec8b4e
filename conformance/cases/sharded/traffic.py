"""Bytes that go from a device to another: how many a placement needs, and how many a fold over devices moves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from conformance.cases.sharded.placement import Box, Layout, Mesh, Placement, held
from conformance.cases.tensor.dtypes import NUMPY


def lacked(dtype: str, have: Layout, want: Layout) -> int:
    """Return the bytes of each device's part that it does not hold yet, of a tensor with nothing pending."""
    lacking = (
        _count(box) - _common(box, own) for box, own in zip(want.boxes, have.boxes, strict=True) if box is not None
    )
    return sum(lacking) * NUMPY[dtype].itemsize


def exchanged(shape: tuple[int, ...], dtype: str, at: Placement, mesh: Mesh, along: Mapping[str, str]) -> int:
    """Return the bytes of a fold along mesh axes in which each device of a group reads the parts of all the others."""
    sizes = {axis.name: axis.size for axis in mesh}
    parts = sum(math.prod(part) for part in held(shape, at, mesh))
    return sum((sizes[name] - 1) * parts for name in along) * NUMPY[dtype].itemsize


def _count(box: Box) -> int:
    return math.prod(end - begin for begin, end in box)


def _common(one: Box, other: Sequence[tuple[int, int]] | None) -> int:
    if other is None:
        return 0
    pairs = zip(one, other, strict=True)
    return math.prod(max(min(b, d) - max(a, c), 0) for (a, b), (c, d) in pairs)
