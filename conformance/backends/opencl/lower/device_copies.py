"""Bringing a block to a device."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from conformance.backends.opencl.graph.node import Copy, Elementwise, Movement, Node
from conformance.backends.opencl.graph.view import View, coalesced, contiguous

_COPIES: Final[WeakKeyDictionary[Node, WeakSet[Copy]]] = WeakKeyDictionary()
"""The copies of a node, for as long as somebody needs them: nodes never change, so whoever wants elements on a device
that has a copy of them has them there."""

_PACKED: Final[WeakKeyDictionary[Node, WeakValueDictionary[View, Elementwise]]] = WeakKeyDictionary()
"""What was packed of a node to be copied, in the same way: by the view that was packed."""


def fetched(block: Movement, device: int) -> Movement:
    """Return ``block`` on ``device``: a raw copy of its elements, or itself when already there.

    Elements with others between them are packed on their own device first, for a copy moves what lies side by side.
    """
    if block.node.device == device:
        return block
    start, stop = block.view.span
    copies = _COPIES.setdefault(block.node, WeakSet())
    here = (each for each in copies if each.device == device)
    covering = (each for each in here if each.start <= start and stop <= each.start + each.size)
    # The smallest, for which one is found depends on no order then.
    copy = min(covering, key=lambda each: (each.size, each.start), default=None)
    if copy is None:
        if block.view.once.size < stop - start:
            return fetched(_packed(block), device)
        copy = Copy(device, block.node.dtype, stop - start, block.node, start)
        copies.add(copy)
    return Movement(copy, block.view.shifted(-copy.start))


def _packed(block: Movement) -> Movement:
    """Return ``block`` from a storage on its device that holds each of its elements once, and no other."""
    node, once = block.node, block.view.once
    # One node for all shapes of the same elements.
    (run,) = coalesced((once,))
    made = _PACKED.setdefault(node, WeakValueDictionary())
    packed = made.get(run)
    if packed is None:
        packed = made[run] = Elementwise(node.device, node.dtype, run.size, Movement(node, run))
    found = zip(block.view.strides, contiguous(once.shape).strides, strict=True)
    return Movement(packed, View(block.view.shape, tuple(stride and step for stride, step in found)))
