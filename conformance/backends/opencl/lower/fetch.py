"""Bringing a block to a device."""

from __future__ import annotations

from conformance.backends.opencl.graph import Copy, Movement


def fetched(block: Movement, device: int) -> Movement:
    """Return ``block`` on ``device``: a raw copy of the elements its view spans, or itself when already there."""
    if block.node.device == device:
        return block
    start, stop = block.view.span
    copy = Copy(device, block.node.dtype, stop - start, block.node, start)
    return Movement(copy, block.view.shifted(-start))
