"""Ranks under ``vmap`` with an axis name for each mesh axis: all ranks' blocks stacked in one array."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import numpy as np

from conformance.backends.attribution import framework
from conformance.cases.program.program import Axis, Program
from conformance.cases.tensor.dtypes import Array


@dataclass(frozen=True)
class Stack:
    """Every value has the mesh axes in front, in mesh order, so rank r is the r-th block."""

    mesh: tuple[Axis, ...]
    own: ClassVar = ()

    def put(self, views: list[Array]) -> Any:
        """Return the blocks as one array, still NumPy's."""
        return np.stack(views).reshape([axis.size for axis in self.mesh] + list(views[0].shape))

    def blocks(self, array: Any) -> list[Array]:
        """Return the blocks in rank order."""
        with framework():
            found = np.asarray(array)
        sizes = tuple(axis.size for axis in self.mesh)
        if found.shape[: len(sizes)] != sizes:
            return [found] * math.prod(sizes)  # no block of it is one rank's, and its shape is no rank's
        # The ellipsis keeps a block without axes an array.
        return [found[(*position, ...)] for position in np.ndindex(sizes)]

    def call(self, rank: Callable[..., dict[str, Any]]) -> Any:
        """Return ``rank`` under ``vmap`` for every axis of the mesh, and ``jit``."""
        with framework():
            for axis in reversed(self.mesh):
                rank = jax.vmap(rank, axis_name=axis.name, axis_size=axis.size)
            return jax.jit(rank, donate_argnums=1)


def over(program: Program) -> Stack:
    """Return the ranks of ``program``."""
    return Stack(program.mesh)
