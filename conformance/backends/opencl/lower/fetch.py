"""Bringing a block to a device."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from conformance.backends.opencl.graph import Copy, Movement, Node

_COPIES: Final[WeakKeyDictionary[Node, WeakSet[Copy]]] = WeakKeyDictionary()
"""The copies of a node, for as long as somebody needs them: nodes never change, so whoever wants elements on a device
that has a copy of them has them there."""


def fetched(block: Movement, device: int) -> Movement:
    """Return ``block`` on ``device``: a raw copy of the elements its view spans, or itself when already there."""
    if block.node.device == device:
        return block
    start, stop = block.view.span
    copies = _COPIES.setdefault(block.node, WeakSet())
    here = (each for each in copies if each.device == device)
    covering = (each for each in here if each.start <= start and stop <= each.start + each.size)
    # The smallest, for which one is found depends on no order then.
    copy = min(covering, key=lambda each: (each.size, each.start), default=None)
    if copy is None:
        copy = Copy(device, block.node.dtype, stop - start, block.node, start)
        copies.add(copy)
    return Movement(copy, block.view.shifted(-copy.start))
