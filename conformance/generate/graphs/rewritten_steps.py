"""Steps that only rows of rewrites have: folds in a wider dtype, one source moved twice, and storage exchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.movement_steps import home
from conformance.generate.graphs.steps import WIDER
from conformance.generate.graphs.vocabulary import plainest

SHORT: Final = ("float16", "bfloat16")

MANY: Final = 33
"""Buffers that no kernel takes, as some engines have it."""


def _shortened(asked: GraphDraft) -> bool:
    """Go on with the head in 16 bits, if it is a number of more."""
    at = asked.head
    if kind(at.dtype) not in ("integer", "float") or NUMPY[at.dtype].itemsize < 4:
        return False
    return asked.on(asked.add("cast", at.shape, asked.draw(choices.sampled_from(SHORT)), at))


def _widened(asked: GraphDraft) -> bool:
    """Go on with the head in the next wider dtype."""
    at = asked.head
    return at.dtype in WIDER and asked.on(asked.add("cast", at.shape, WIDER[at.dtype], at))


def _summed(asked: GraphDraft) -> bool:
    """Go on with the sum of all of the head, or of its first and its last axis."""
    return _folded(asked, "")


def _accumulated(asked: GraphDraft) -> bool:
    """Go on with such a sum that accumulates in a wider dtype."""
    return asked.head.dtype in WIDER and _folded(asked, WIDER[asked.head.dtype])


def _folded(asked: GraphDraft, acc: str) -> bool:
    at = asked.head
    if not at.shape or kind(at.dtype) == "bool":
        return False
    if all(isinstance(extent, int) for extent in at.shape) and asked.count(at.shape) % 4 == 0 and chance(asked.draw, 2):
        at = asked.moved("reshape", (2, 2, asked.count(at.shape) // 4), at)
    last = len(at.shape) - 1
    axes = (0, last) if last > 1 and chance(asked.draw, 2) else tuple(range(last + 1))
    kept = tuple(extent for axis, extent in enumerate(at.shape) if axis not in axes)
    return asked.on(asked.add("reduce", kept, at.dtype, at, arg=axes, fold="add", acc=acc))


def _transposed(asked: GraphDraft) -> bool:
    """Go on with the axes of the head from behind."""
    at = asked.head
    axes = tuple(range(len(at.shape)))[::-1]
    return len(axes) > 1 and asked.on(asked.moved("permute", at.shape[::-1], at, axes))


def _bits(asked: GraphDraft) -> bool:
    """Go on with the bits of floats as integers."""
    at = asked.head
    return kind(at.dtype) == "float" and asked.same("bitcast", dtype=f"uint{8 * NUMPY[at.dtype].itemsize}")


def _apart(asked: GraphDraft) -> bool:
    """Go on with a part of the head, or a pad of it, and ask for another of the same shape beside it."""
    at = asked.head
    if not at.shape or any(isinstance(extent, str) for extent in at.shape):
        return False
    axis, padded = asked.draw(choices.integers(0, len(at.shape) - 1)), chance(asked.draw, 2)
    extent = int(str(at.shape[axis]))
    if not (padded or extent):
        return False
    shape = (*at.shape[:axis], extent + (1 if padded else -1), *at.shape[axis + 1 :])
    whole = [(0, 0 if padded else each) for each in at.shape]
    for pair in ((1, 0), (0, 1)) if padded else ((0, extent - 1), (1, extent)):
        asked.head = asked.moved("pad" if padded else "shrink", shape, at, (*whole[:axis], pair, *whole[axis + 1 :]))
        asked.wanted.append(asked.head.id)
    return True


def _many(asked: GraphDraft) -> bool:
    """Go on with what is computed of the head and of more buffers than one kernel may take."""
    at = asked.head
    if any(isinstance(extent, str) for extent in at.shape) or asked.count(at.shape) > asked.room_for:
        return False
    for _ in range(MANY):
        other = asked.buffer(tuple(int(str(extent)) for extent in at.shape), at.dtype, at.device)
        asked.same("alu", other, arg=plainest(at.dtype))
    return True


def _exchanged(asked: GraphDraft) -> bool:
    """Exchange what two buffers hold, by way of a contiguous copy; ask for both."""
    at = asked.head
    if at.op != "buf" or not asked.count(at.shape):
        return False
    other = asked.buffer(tuple(int(str(extent)) for extent in at.shape), at.dtype, at.device)
    kept = asked.add("contig", at.shape, at.dtype, at)
    for target, value in ((at, other), (other, kept)):
        made = asked.add("assign", at.shape, at.dtype, target, value)
        asked.open.add(made.id)
        asked.written.append(home(asked, made))
        asked.wanted.append(made.id)
        asked.head = made
    return True


STEPS_OF_REWRITES: Final[Mapping[str, Callable[[GraphDraft], bool]]] = {
    "shortened": _shortened,
    "widened": _widened,
    "summed": _summed,
    "accumulated": _accumulated,
    "transposed": _transposed,
    "bits": _bits,
    "apart": _apart,
    "many": _many,
    "exchanged": _exchanged,
}
"""Each by its word."""
