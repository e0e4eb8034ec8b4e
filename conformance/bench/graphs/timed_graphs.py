"""Ten graphs whose speed is measured, each written once over the words that every framework has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from conformance.cases.tensor.dtypes import Array

SIZES: Final = ("small", "medium", "large")


class Words(Protocol):
    """What a framework calls things; its tensors have the arithmetic operators themselves."""

    def absolute(self, x: Any) -> Any:
        """Return the absolute value."""

    def root(self, x: Any) -> Any:
        """Return the square root."""

    def atleast(self, x: Any, low: float) -> Any:
        """Return ``x``, or ``low`` where that is greater."""

    def total(self, x: Any, axis: int | None) -> Any:
        """Return the sum along an axis, or of all."""

    def turned(self, x: Any) -> Any:
        """Return a matrix with its axes exchanged."""

    def padded(self, x: Any) -> Any:
        """Return a matrix with one zero before and after each axis."""

    def softmax(self, x: Any) -> Any:
        """Return the softmax along the last axis."""

    def layernorm(self, x: Any) -> Any:
        """Return ``x`` with mean 0 and variance 1 along the last axis; 1e-5 is added to the variance."""


class Timed(NamedTuple):
    """A graph: the shapes of its float32 inputs by size, and what it computes."""

    name: str
    shapes: Mapping[str, tuple[tuple[int, ...], ...]]
    made: Callable[..., Any]

    def inputs(self, size: str) -> tuple[Array, ...]:
        """Return inputs between 0 and 1, the same in every process."""
        draw = np.random.default_rng(17)
        return tuple(draw.random(shape, np.float32) for shape in self.shapes[size])


def _shapes(*extents: int, count: int = 1, grown: int = 0) -> Mapping[str, tuple[tuple[int, ...], ...]]:
    """Return square matrices by size; the last of them is ``grown`` longer along both axes."""
    return MappingProxyType(
        {
            size: (*(((extent, extent),) * (count - 1)), (extent + grown, extent + grown))
            for size, extent in zip(SIZES, extents, strict=True)
        }
    )


def _chain(w: Words, a: Any) -> Any:
    x = w.root(w.absolute(a * 1.5 + 0.5))
    return -((w.atleast(x * 0.25 - 0.2, 0.0) + a) * a)


PLANE: Final = (64, 512, 2048)
"""Extents of a square matrix: 16 KiB, 1 MiB and 16 MiB of float32."""

TIMED: Final = (
    Timed("a*b+c", _shapes(*PLANE, count=3), lambda w, a, b, c: a * b + c),
    Timed("chain of 10", _shapes(*PLANE), _chain),
    Timed("softmax", _shapes(*PLANE), lambda w, a: w.softmax(a)),
    Timed("layernorm", _shapes(*PLANE), lambda w, a: w.layernorm(a)),
    Timed("sum axis 1", _shapes(*PLANE), lambda w, a: w.total(a, 1)),
    Timed("sum axis 0", _shapes(*PLANE), lambda w, a: w.total(a, 0)),
    Timed("sum all", _shapes(64, 512, 4096), lambda w, a: w.total(a, None)),
    Timed("transpose+add", _shapes(*PLANE, count=2), lambda w, a, b: w.turned(a) + b),
    Timed("pad+add", _shapes(*PLANE, count=2, grown=2), lambda w, a, b: w.padded(a) + b),
    Timed("matmul", _shapes(64, 256, 512, count=2), lambda w, a, b: a @ b),
)
"""The graphs of a survey of code patterns for OpenCL on CPUs, the large size being its own (4 million elements)."""

WIDE: Final = Timed("matmul wide", _shapes(512, 1024, 2048, count=2), lambda w, a, b: a @ b)
"""Matrix products of more extents, measured when asked for."""

GRAPH_BY_NAME: Final = {each.name: each for each in (*TIMED, WIDE)}
