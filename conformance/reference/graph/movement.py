"""Movement of a graph's values, and of the positions of what is stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import Node


@dataclass(frozen=True)
class Stored:
    """Elements of a buffer, by position; -1 stands for a zero that a pad added."""

    buffer: str
    at: NDArray[np.int64]

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Return which elements no pad added."""
        return np.asarray(self.at >= 0)

    @cached_property
    def everywhere(self) -> bool:
        """Return whether no pad added any."""
        return bool(self.inside.all())


def stored_in(buffer: str, shape: tuple[int, ...]) -> Stored:
    """Return the elements of a buffer of ``shape``: what a symbolic extent leaves of it is its beginning."""
    return Stored(buffer, np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape))


def moved(node: Node, array: NDArray[Any], fill: float, values: Values) -> NDArray[Any]:
    """Return ``array`` moved as ``node`` moves its source; a pad adds ``fill``, whose zero is zero bits."""
    arg = node.arg if isinstance(node.arg, tuple) else ()
    axes = tuple(axis for axis in arg if isinstance(axis, int))
    pairs = [sizes(pair, values) for pair in arg if isinstance(pair, tuple)]
    shape = sizes(node.shape, values)
    if node.op == "reshape":
        array = array.reshape(shape)
    elif node.op == "expand":
        array = np.broadcast_to(array, shape)
    elif node.op == "permute":
        array = array.transpose(axes)
    elif node.op == "pad":
        inner = tuple(slice(before, before + extent) for (before, _), extent in zip(pairs, array.shape, strict=True))
        padded = np.full(shape, fill, array.dtype) if fill else np.zeros(shape, array.dtype)
        padded[inner] = array
        array = padded
    elif node.op == "shrink":
        array = array[tuple(slice(begin, end) for begin, end in pairs)]
    elif node.op == "stride":
        array = array[tuple(slice(None, None, step) for step in axes)]
    elif node.op == "flip":
        array = np.flip(array, axes)
    return array
