"""Layouts and views of a program as movement of a graph: how a block lies in its storage, and which part a view is."""

from __future__ import annotations

import math
from typing import Any

from conformance.cases.graph.graph import Movement
from conformance.cases.program.program import Step
from conformance.cases.tensor.layout import OFFSET, Layout

Move = tuple[Movement, Any, tuple[int, ...]]
"""A movement, its argument, and the shape it gives."""


def laid_out(layout: Layout, shape: tuple[int, ...]) -> list[Move]:
    """Return how a block lies in its flat storage (``cases.layout``)."""
    axes, size = tuple(range(len(shape))), math.prod(shape)
    if layout == "offset":
        return [("shrink", ((OFFSET, OFFSET + size),), (size,)), ("reshape", None, shape)]
    if layout == "broadcast" and shape and shape[0]:
        return [("reshape", None, (1, *shape[1:])), ("expand", None, shape)]
    if layout == "strided" and shape:
        wide = (*shape[:-1], 2 * shape[-1])
        return [("reshape", None, wide), ("stride", (1,) * len(shape[1:]) + (2,), shape)]
    if layout == "transposed" and shape:
        return [("reshape", None, shape[::-1]), ("permute", axes[::-1], shape)]
    if layout == "flipped" and shape:
        return [("reshape", None, shape), ("flip", axes, shape)]
    return [("reshape", None, shape)]


def window(step: Step, shape: tuple[int, ...]) -> list[Move]:
    """Return the movement that a ``view`` step is of a block: turned round, cut, thinned out, and its axes in order."""
    numbers: Any = [step.attrs[name] for name in ("start", "stop", "step")]
    parts = [range(*bounds) for bounds in zip(*numbers, strict=True)]
    # This attribute is a tuple, by the form of steps.
    order: Any = tuple(step.attrs.get("order", ())) or tuple(range(len(shape)))  # type: ignore[arg-type]
    turned = tuple(axis for axis, part in enumerate(parts) if part.step < 0)
    cuts = tuple(_cut(part, extent) for part, extent in zip(parts, shape, strict=True))
    cut = tuple(end - begin for begin, end in cuts)
    kept = tuple(len(part) for part in parts)
    moves: list[Move] = [("flip", turned, shape)] if turned else []
    moves.append(("shrink", cuts, cut))
    if cut != kept:
        moves.append(("stride", tuple(abs(part.step) for part in parts), kept))
    if order != tuple(range(len(shape))):
        moves.append(("permute", order, tuple(kept[axis] for axis in order)))
    return moves


def _cut(part: range, extent: int) -> tuple[int, int]:
    """Return the half-open range of an axis, turned round where the step is negative, from the first to the last."""
    if not part:
        return 0, 0
    ends = (part[0], part[-1]) if part.step > 0 else (extent - 1 - part[0], extent - 1 - part[-1])
    return ends[0], ends[1] + 1
