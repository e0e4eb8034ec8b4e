"""Reading memory the wrong way: what an implementation sees that forgets the strides of a block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.cases.tensor.dtypes import Array


def flat_storage(block: Array) -> Array:
    """Return the first ``block.size`` elements of the memory under ``block`` in the shape of ``block``.

    That is the block itself where it is contiguous and starts its storage, or owns its memory. A block of
    stride 0 is read as it is: its storage is too short to be mistaken for it.
    """
    base = block.base
    if not isinstance(base, np.ndarray) or base.nbytes < block.nbytes:
        return block
    elements = base.reshape(-1).view(np.uint8)[: block.nbytes].view(block.dtype)
    return elements.reshape(block.shape)


def head(block: Array, axis: int, extent: int) -> Array:
    """Return the first ``extent`` slices of ``block`` along ``axis``; ``AxisError`` when there is no such axis."""
    return np.moveaxis(np.moveaxis(block, axis, 0)[:extent], 0, axis)


def shared(these: Sequence[Array], those: Sequence[Array]) -> bool:
    """Return whether some rank's block of the one and of the other share elements."""
    return any(np.shares_memory(one, other) for one, other in zip(these, those, strict=False))
