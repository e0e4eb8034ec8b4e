"""From the elements that points touch, which is what can be computed of any index, back to an index map."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.cases.graph.extent import Dim, Values, sizes
from conformance.cases.schedule.index_map import Affine, IndexMap, Indices, elements

Touched = NDArray[np.bool_]
Seen = Callable[[Values], tuple[Indices, Touched]]
"""The element of each point and whether it touches any, where the variables have some values."""

MOST_VALUES: Final = 1 << 10
"""Values of all variables of a kernel together that are tried one by one."""


def fit(found: Indices, valid: Touched) -> IndexMap | None:
    """Return a map over the extents of ``found`` that gives ``found`` wherever ``valid``, or ``None``.

    It is one affine map when there is one; else a chain that counts the points in row-major order, and splits the
    count anew, as reshaping does, or takes a run of it, as a part of a flat buffer is.
    """
    shape = found.shape
    box = _box(valid)
    strides = None if box is None else _strides(found[tuple(slice(low, high) for low, high in box)])
    if box is not None and strides is not None:
        mask = None if all(b == (0, n) for b, n in zip(box, shape, strict=True)) else box
        corner = found[tuple(low for low, _ in box)] if valid.any() else 0
        offset = int(corner) - sum(stride * low for stride, (low, _) in zip(strides, box, strict=True))
        return (Affine(extents=shape, strides=strides, offset=offset, mask=mask),)
    (flat,) = np.nonzero(valid.reshape(-1))
    low, high = int(flat[0]), int(flat[-1]) + 1
    if high - low > len(flat):
        return None
    split = _split(found.reshape(-1)[low:high])
    if len(flat) < found.size and (split is None or len(split) > 1):
        # What is said of the other points says nothing, and may go on in the same way.
        whole = fit(found, np.ones(found.shape, np.bool_)) if box is not None else None
        return None if whole is None else (replace(whole[0], mask=box), *whole[1:])
    if split is None:
        return None
    count = np.cumprod((1, *shape[:0:-1]))[::-1]
    counted = Affine(extents=shape, strides=tuple(int(stride) for stride in count))
    first = int(found.reshape(-1)[low])
    if len(flat) < found.size:
        step = split[0][1]
        part = Affine(extents=(found.size,), strides=(step,), offset=first - low * step, mask=((low, high),))
        return counted, part
    extents, steps = zip(*split, strict=True)
    return counted, Affine(extents=extents, strides=steps, offset=first)


def fit_all(touched: Seen, extents: tuple[Dim, ...], bounds: Mapping[str, tuple[int, int]]) -> IndexMap | None:
    """Return a map over ``extents`` that gives what ``touched`` does for all values of the variables, or ``None``.

    ``bounds`` are the least and the greatest value of each. What a variable adds is seen at its greatest values; that
    this is what it always adds is tried for every value.
    """
    most = {name: high for name, (_, high) in bounds.items()}
    index_map = fit(*touched(most))
    if index_map is None or not bounds:
        return index_map
    if math.prod(high + 1 - low for low, high in bounds.values()) > MOST_VALUES:
        return None
    if len(index_map) == 1:
        (top,) = index_map
        corner = sizes(tuple(low for low, _ in top.mask), most) if top.mask else (0,) * len(extents)
        adds: dict[str, int] = {}
        for name, (low, high) in bounds.items():
            fewer = touched({**most, name: max(low, high - 1)})[0]
            if any(at >= extent for at, extent in zip(corner, fewer.shape, strict=True)):
                return None
            adds |= {name: step} if (step := int(touched(most)[0][corner]) - int(fewer[corner])) else {}
        offset = top.offset - sum(step * most[name] for name, step in adds.items())
        index_map = (replace(top, extents=extents, offset=offset, variables=adds),)
    elif any(isinstance(extent, str) for extent in extents):
        return None
    ranges = [range(low, high + 1) for low, high in bounds.values()]
    every = (dict(zip(bounds, values, strict=True)) for values in itertools.product(*ranges))
    return index_map if all(_same(index_map, touched, values) for values in every) else None


def _same(index_map: IndexMap, touched: Seen, values: Values) -> bool:
    (seen, inside), (found, valid) = elements(index_map, values), touched(values)
    return bool((inside == valid).all() and (seen[inside] == found[inside]).all())


def _box(valid: Touched) -> tuple[tuple[int, int], ...] | None:
    """Return the range of each axis that is valid, or ``None`` when what is valid is no box."""
    bounds = []
    for axis in range(valid.ndim):
        hits = np.flatnonzero(valid.any(axis=tuple(a for a in range(valid.ndim) if a != axis)))
        bounds.append((int(hits[0]), int(hits[-1]) + 1) if len(hits) else (0, 0))
    inside = valid[tuple(slice(low, high) for low, high in bounds)]
    return tuple(bounds) if inside.all() and inside.size == valid.sum() else None


def _strides(found: Indices) -> tuple[int, ...] | None:
    """Return the distance along each axis when it is the same everywhere, 0 along axes of one point."""
    strides = []
    for axis in range(found.ndim):
        steps = np.diff(found, axis=axis)
        if steps.size and (steps != steps.reshape(-1)[0]).any():
            return None
        strides.append(int(steps.reshape(-1)[0]) if steps.size else 0)
    return tuple(strides)


def _split(found: Indices) -> list[tuple[int, int]] | None:
    """Return extents and strides, major first, over which a sequence is affine, or ``None``."""
    if len(found) == 1:
        return [(1, 0)]
    step = int(found[1] - found[0])
    run = int(np.argmax(np.append(np.diff(found) != step, True))) + 1
    if run == len(found):
        return [(run, step)]
    for inner in (n for n in range(run, 1, -1) if len(found) % n == 0):
        rows = found.reshape(-1, inner)
        if (np.diff(rows, axis=1) == step).all():
            outer = _split(rows[:, 0])
            return None if outer is None else [*outer, (inner, step)]
    return None
