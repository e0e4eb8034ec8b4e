"""What is measured: an operation on so many bytes, its data, and what NumPy says it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations import OPERATIONS

ITEM: Final = 4
"""Bytes of the one dtype, float32."""


class Collective(msgspec.Struct, frozen=True):
    """One operation: its attributes, the share of ``size`` a rank brings, and the factor of nccl-tests for the bus."""

    attrs: dict[str, Any]
    redop: str
    brought: Callable[[int], float]
    bus: Callable[[int], float]


OPS: Final[dict[str, Collective]] = {
    "all_reduce": Collective({"op": "sum"}, "sum", lambda n: 1, lambda n: 2 * (n - 1) / n),
    "reduce_scatter": Collective({"op": "sum", "axis": 0, "tiled": True}, "sum", lambda n: 1, lambda n: (n - 1) / n),
    "all_gather": Collective({"axis": 0, "tiled": True}, "none", lambda n: 1 / n, lambda n: (n - 1) / n),
    "all_to_all": Collective(
        {"split_axis": 0, "concat_axis": 0, "tiled": True}, "none", lambda n: 1, lambda n: (n - 1) / n
    ),
}
"""The operations that can be measured. ``size`` is the larger of what a rank brings and receives."""


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One operation on one size, in bytes a rank, between so many ranks."""

    op: str
    size: int
    ranks: int

    @property
    def brought(self) -> int:
        """Return how many elements every rank brings."""
        return int(self.size * OPS[self.op].brought(self.ranks)) // ITEM

    def block(self, rank: int) -> Array:
        """Return what one rank brings: small whole numbers, so that every order of addition gives one sum."""
        return ((np.arange(self.brought) * 7 + 13 * rank) % 251).astype(np.float32)

    def expected(self) -> list[Array]:
        """Return what every rank receives, by the reference."""
        meaning = OPERATIONS[self.op]
        blocks = [self.block(rank) for rank in range(self.ranks)]
        found: list[Array] = meaning(blocks, **OPS[self.op].attrs, groups=(tuple(range(self.ranks)),))
        return found


def wrong(found: Array, expected: Array) -> int:
    """Return how many elements differ; all of them where the shape does."""
    if found.shape != expected.shape:
        return max(1, expected.size)
    return int((found != expected).sum())


def rounded(size: int, ranks: int) -> int:
    """Return ``size`` as a whole number of elements for every rank, at least one."""
    grain = ITEM * ranks
    return max(grain, size // grain * grain)
