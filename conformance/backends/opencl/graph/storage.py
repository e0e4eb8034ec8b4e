"""Buffers while a program is traced: each is the last of the writes to it, and names are views of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.node import Elementwise, Fill, Movement, Node, Opened, Write, root, whole
from conformance.backends.opencl.graph.view import View, coalesced
from conformance.cases.tensor.dtypes import DTYPES

Blocks = tuple[Movement | None, ...]

POISON: Final = 0xDB
"""Byte that freed storage is filled with, so that whoever still reads it is found out; its lowest bits where an element
holds fewer."""


class Stored(msgspec.Struct, frozen=True):
    """A buffer or a part of one: the name of the buffer, and the view of its storage on each rank."""

    base: str
    views: tuple[View, ...]


States = dict[str, list[Node]]
"""What each buffer is now, rank by rank."""


def opened(name: str, blocks: Sequence[Movement], states: States) -> Stored:
    """Make storage for the buffer ``name``: a copy of the whole storage of an input, what surrounds it included."""
    nodes = [block.node for block in blocks]
    states[name] = [
        Opened(rank, node.dtype, node.size, whole(node, (node.size,)), f"opened {name}[{rank}]", name)
        for rank, node in enumerate(nodes)
    ]
    return Stored(name, tuple(block.view for block in blocks))


def viewed(stored: Stored, attrs: Mapping[str, Any]) -> Stored:
    """Return the part of ``stored`` that the attributes of a view name."""
    parts = [range(*bounds) for bounds in zip(attrs["start"], attrs["stop"], attrs["step"], strict=True)]
    order = tuple(attrs.get("order", ()))
    return Stored(stored.base, tuple(view.window(parts, order) for view in stored.views))


def current(stored: Stored, states: States) -> tuple[Movement, ...]:
    """Return what is there now; whoever reads it does so before the next write."""
    return tuple(Movement(node, view) for node, view in zip(states[stored.base], stored.views, strict=True))


def frozen(block: Movement, asked: str = "") -> Movement:
    """Return a block that stays what it is when the storage of ``block`` is written, ``asked`` for by that name."""
    node, view = block.node, block.view
    called = asked and f"{asked}[{node.device}]"
    return whole(Elementwise(node.device, node.dtype, view.size, block, called), view.shape)


def write(stored: Stored, blocks: Blocks, states: States, asked: str = "") -> None:
    """Write a block on every rank that has one, ``asked`` for by that name."""
    now = states[stored.base]
    for rank, (at, block) in enumerate(zip(stored.views, blocks, strict=True)):
        before = now[rank]
        # What is there already need not be written again.
        if block is not None and at.size and not _same(block, Movement(before, at)):
            # One kernel cannot read what it writes: other elements of it would come too late.
            value = frozen(block) if root(block.node) is root(before) else block
            called = asked and f"{asked}[{rank}]"
            now[rank] = Write(rank, before.dtype, before.size, before, at, value, called)


def _same(one: Movement, other: Movement) -> bool:
    """Return whether two blocks of one shape are the same elements: a step along one element alone means nothing."""
    return one.node == other.node and len(set(coalesced((one.view, other.view)))) == 1


def free(stored: Stored, states: States) -> None:
    """Fill a buffer with poison, after whoever reads it."""
    write(stored, tuple(_poison(*pair) for pair in zip(states[stored.base], stored.views, strict=True)), states)


def _poison(node: Node, at: View) -> Movement:
    held = 1 if node.dtype == "bool" else DTYPES[node.dtype].bits
    bits = int.from_bytes(bytes([POISON]) * FORMATS[node.dtype].itemsize, "little") & ((1 << held) - 1)
    return Movement(Fill(node.device, node.dtype, 1, bits), View(at.shape, (0,) * len(at.shape)))


def check_targets(op: str, targets: Sequence[Blocks], results: Sequence[Blocks]) -> None:
    """Raise ``TargetMismatchError`` unless every result has a target of its dtype and shape on every rank."""
    if len(targets) != len(results):
        raise no.TargetMismatchError(
            f"{op}: {len(results)} results cannot go into {len(targets)} targets; each needs one of its own"
        )
    for number, (target, result) in enumerate(zip(targets, results, strict=True)):
        for rank, (to, block) in enumerate(zip(target, result, strict=True)):
            if to is None or block is None:
                continue
            for what, mine, right in (
                ("dtype", to.node.dtype, block.node.dtype),
                ("shape", to.view.shape, block.view.shape),
            ):
                if mine != right:
                    raise no.TargetMismatchError(
                        f"{op}: target {number} has {what} {mine} on rank {rank}; that of the result, {right}, is right"
                    )


def ends(states: States) -> dict[str, Blocks]:
    """Return the whole storage of every buffer as the program leaves it."""
    return {name: tuple(whole(node, (node.size,)) for node in nodes) for name, nodes in states.items()}
