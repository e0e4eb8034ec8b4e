"""Movement nodes of a graph as index maps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from conformance.backends.base import Refused
from conformance.backends.opencl.graph.index_map import Affine, Shape, in_order, permuted, spread, windowed
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node


def movement(node: Node, given: Shape, shape: Shape, bound: Mapping[str, int]) -> Affine:
    """Return the map of the elements of a moved value to those of its source, of shape ``given``.

    Raise ``Refused`` where the movement leaves its source.
    """
    arg: Any = node.arg if isinstance(node.arg, tuple) else ()
    axes = tuple(axis for axis in arg if isinstance(axis, int))
    pairs = tuple(sizes(pair, bound) for pair in arg if isinstance(pair, tuple))
    found: Affine | None
    if node.op == "reshape":
        fits = math.prod(shape) == math.prod(given)
        found = in_order(shape)
    elif node.op == "expand":
        fits = len(shape) == len(given) and all(old in (new, 1) for old, new in zip(given, shape, strict=True))
        found = spread(given, shape) if fits else None
    elif node.op == "permute":
        fits = sorted(axes) == list(range(len(given)))
        found = permuted(given, axes) if fits else None
    else:
        parts = _parts(node.op, given, axes, pairs)
        fits = parts is not None and tuple(len(part) for part in parts) == shape
        found = windowed(given, parts) if fits and parts is not None else None
    if not fits or found is None:
        raise Refused(f"node {node.id!r} ({node.op}): its shape {list(shape)} does not follow from {list(given)}")
    return found


def _parts(op: str, given: Shape, axes: tuple[int, ...], pairs: tuple[tuple[int, ...], ...]) -> list[range] | None:
    """Return the indices of the source along every axis, or ``None`` where there are none such."""
    found: list[range] | None = None
    if op == "flip" and all(axis < len(given) for axis in axes):
        found = [range(extent)[::-1] if axis in axes else range(extent) for axis, extent in enumerate(given)]
    elif op == "stride" and len(axes) == len(given):
        found = [range(extent)[::step] for extent, step in zip(given, axes, strict=True)]
    elif op == "pad" and len(pairs) == len(given):
        found = [range(-pair[0], extent + pair[1]) for pair, extent in zip(pairs, given, strict=True)]
    elif op == "shrink" and len(pairs) == len(given):
        fits = all(0 <= begin <= end <= extent for (begin, end), extent in zip(pairs, given, strict=True))
        found = [range(begin, end) for begin, end in pairs] if fits else None
    return found
