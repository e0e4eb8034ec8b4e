"""Collectives over no axis: there is nobody to meet, and no method of a backend is called."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.backends.exceptions import Refused
from conformance.backends.held_storage import written
from conformance.cases.tensor.dtypes import Array


@dataclass(frozen=True)
class Ready:
    """The ticket of a collective over no axis, of which a backend is asked nothing."""

    blocks: list[Array]


def alone(blocks: list[Array], target: list[Array] | None = None) -> list[Array]:
    """Return what an operation over no axis gives, for there is nobody to meet and nothing to ask of a method."""
    kinds = {(block.dtype, block.shape) for block in blocks}
    if len(kinds) > 1:
        raise Refused(f"ranks hold different dtypes or shapes: {sorted(map(str, kinds))}")
    fresh = [block.copy() for block in blocks]
    return fresh if target is None else written(target, fresh)
