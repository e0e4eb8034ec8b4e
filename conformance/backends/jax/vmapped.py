"""A program under ``vmap`` with an axis name for each mesh axis: all ranks' blocks stacked in one array."""

# mypy: allow-untyped-calls
# JAX annotates only part of its own functions.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from conformance.backends.jax.per_rank import per_rank
from conformance.cases.dtypes import Array
from conformance.cases.program import Program


@dataclass(frozen=True)
class Vmapped:
    """A program. Every value has the mesh axes in front, in mesh order, so rank r is the r-th block."""

    call: Any
    sizes: tuple[int, ...]

    def compile(self, inputs: Mapping[str, list[Array]]) -> None:
        """Do what the first call would do before it runs; calls find it."""
        self.call.lower(self._arrays(inputs)).compile()

    def run(self, inputs: Mapping[str, list[Array]]) -> dict[str, list[Array]]:
        """Return the blocks of every result, in rank order."""
        found = self.call(self._arrays(inputs))
        return {name: _blocks(np.asarray(array), len(self.sizes)) for name, array in found.items()}

    def _arrays(self, inputs: Mapping[str, list[Array]]) -> dict[str, Array]:
        return {name: np.stack(views).reshape(self.sizes + views[0].shape) for name, views in inputs.items()}


def prepare(program: Program) -> Vmapped:
    """Return all steps of ``program`` as one function."""
    mapped = per_rank(program)
    for axis in reversed(program.mesh):
        mapped = jax.vmap(mapped, axis_name=axis.name, axis_size=axis.size)
    sizes = tuple(axis.size for axis in program.mesh)
    return Vmapped(jax.jit(mapped), sizes)


def _blocks(array: Array, axes: int) -> list[Array]:
    # The ellipsis keeps a block of rank 0 an array.
    return [array[(*position, ...)] for position in np.ndindex(array.shape[:axes])]
