"""Ranges, borders and steps of a split axis, done on the parts: what the rules of placement have no words for.

A range of the tensor is a range of each part, and some parts have nothing of it; a border is one of the first and the
last part; steps forward go on in the next part. None brings a device anything that it lacks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from msgspec.structs import replace

from conformance.backends.lowering.graph_builder import Spread, extents
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement, Split

Pairs = list[tuple[int, int]]


def inside(node: Node, of: Sequence[Spread]) -> Placement | None:
    """Return where the result is when its source stays where it is; ``None`` where it could not."""
    if node.op not in ("shrink", "pad", "stride") or of[0].at.masks or 0 in of[0].shape or 0 in extents(node):
        return None
    if node.op == "stride":
        if any(steps(node)[split.axis] < 0 for split in of[0].at.splits):
            return None
        splits = tuple(_stepped(split, steps(node)[split.axis]) for split in of[0].at.splits)
    else:
        change = _ranged if node.op == "shrink" else _bordered
        splits = tuple(change(split, pairs(node)[split.axis]) for split in of[0].at.splits)
    return replace(of[0].at, splits=splits)


def steps(node: Node) -> list[int]:
    """Return the steps of a stride, or the axes of a flip."""
    return [each for each in node.arg if isinstance(each, int)] if isinstance(node.arg, tuple) else []


def pairs(node: Node) -> Pairs:
    """Return the pairs of a shrink or a pad."""
    arg = node.arg if isinstance(node.arg, tuple) else ()
    return [(int(pair[0]), int(pair[1])) for pair in arg if isinstance(pair, tuple)]


def _ranged(split: Split, pair: tuple[int, int]) -> Split:
    begin, end = pair
    return replace(split, cuts=tuple(min(max(cut, begin), end) - begin for cut in split.cuts))


def _bordered(split: Split, pair: tuple[int, int]) -> Split:
    before, after = pair
    inner = tuple(cut + before for cut in split.cuts[1:-1])
    return replace(split, cuts=(0, *inner, split.cuts[-1] + before + after))


def _stepped(split: Split, step: int) -> Split:
    return replace(split, cuts=tuple(-(-cut // step) for cut in split.cuts))


def first_of(split: Split, step: int, part: int) -> int:
    """Return the place in a part of the first element that steps over the whole tensor meet."""
    return -split.cuts[part] % step


def own_pairs(node: Node, split: Split, part: int) -> tuple[int, int]:
    """Return the pair of a split axis as it is for one part."""
    begin, end = list(itertools.pairwise(split.cuts))[part]
    first, last = pairs(node)[split.axis]
    if node.op == "shrink":
        return min(max(first - begin, 0), end - begin), min(max(last - begin, 0), end - begin)
    return (first if part == 0 else 0), (last if part == len(split.cuts) - 2 else 0)
