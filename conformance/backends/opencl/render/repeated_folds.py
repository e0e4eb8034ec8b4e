"""What a fold computes along its axis and a kernel needs again along another: computed once, kept for a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.opencl.graph.index_map import Affine
from conformance.backends.opencl.graph.node import Launch, sources
from conformance.cases.schedule.kernel_body import Alu, Load, Reduce

DEAR: Final = frozenset({"exp2", "log2", "sqrt", "div", "recip"})
"""Operations that cost more than to store and load what they give."""

LONGEST: Final = 2**13
"""Elements of a row that are kept at most: 32 KiB of float32."""


def again(launch: Launch, along: int, folds: Sequence[int]) -> dict[int, int]:
    """Return for folds the value along axis ``along`` that is, point by point, what they fold along theirs."""
    found: dict[int, int] = {}
    for number in folds:
        line = launch.instructions[number]
        assert isinstance(line, Reduce)
        same = len(line.axes) == 1 and launch.extents[line.axes[0]] == launch.extents[along] <= LONGEST
        if not same or not _dear(launch, line.of):
            continue
        for other in range(len(launch.instructions)):
            if other != line.of and _alike(launch, line.of, other, (line.axes[0], along)):
                found[number] = other
                break
    return found


def _dear(launch: Launch, number: int) -> bool:
    line = launch.instructions[number]
    return isinstance(line, Alu) and (line.op in DEAR or any(_dear(launch, each) for each in line.of))


def _alike(launch: Launch, one: int, other: int, axes: tuple[int, int]) -> bool:
    """Return whether one value is the other with the first axis in place of the second."""
    first, second = launch.instructions[one], launch.instructions[other]
    if isinstance(first, Load) and isinstance(second, Load):
        (node, (a,)), (beside, (b,)) = launch.reads[first.access], launch.reads[second.access]
        return node is beside and a.mask is None and b.mask is None and a.offset == b.offset and _turned(a, b, axes)
    if isinstance(first, Alu) and isinstance(second, Alu) and first.op == second.op:
        pairs = zip(sources(first), sources(second), strict=True)
        return all(a == b or _alike(launch, a, b, axes) for a, b in pairs)
    return False


def _turned(one: Affine, other: Affine, axes: tuple[int, int]) -> bool:
    steps = list(other.strides)
    steps[axes[0]], steps[axes[1]] = steps[axes[1]], steps[axes[0]]
    return one.strides == tuple(steps)
