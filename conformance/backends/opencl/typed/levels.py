"""The levels that a program is mapped over: the slices of one that steps name are members, those of others an axis.

What no step names only makes blocks larger. Its axis is the last one, where no step counts axes: each finds its own
where they were.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from conformance.backends.opencl.typed.graph_builder import Blocks, Building, Shape
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram


class LevelError(ValueError):
    """A level that does not fit the blocks that it is mapped over, or the result that it is to be an axis of."""


def meeting(program: TypedProgram, levels: Sequence[Level]) -> tuple[Level, ...]:
    """Return the levels that some step names, whose slices meet or have rows of their own in a ragged exchange."""
    named = {axis for step in program.steps for axis in (*step.axes, step.attrs.get("level"))}
    return tuple(level for level in levels if level.name in named)


def entered(
    building: Building, name: str, blocks: Blocks, levels: Sequence[Level], members: Collection[Level]
) -> Blocks:
    """Return the block of each member of an input: a slice of the levels in ``members``, with the axes of the others.

    The members of rank 0 come first, and of them those of the outermost level's slice 0, each on its device. Raise
    ``LevelError`` for an axis that a block has not, or that has not as many slices.
    """
    places, shape, behind = list(enumerate(blocks.nodes)), blocks.shape, 0
    for level in levels:
        at, before = level.inputs.get(name), shape
        own = before[: len(before) - behind]
        if at is not None and (not 0 <= at < len(own) or own[at] != level.size):
            which = f"level {level.name!r} has {level.size} slices along axis {at} of {name!r}"
            raise LevelError(f"{which}, whose blocks have the shape {list(own)} there")
        behind += level not in members
        if level not in members:
            shape = (*(before if at is None else _without(before, at)), level.size)
            places = [(home, _last(building, (home, node), before, shape, blocks.dtype, at)) for home, node in places]
        elif at is None:
            places = [place for place in places for _ in range(level.size)]
        else:
            shape = _without(before, at)
            places = [
                (home, _slice(building, (home, node), before, blocks.dtype, at, number))
                for home, node in places
                for number in range(level.size)
            ]
    nodes = tuple(
        building.node("copy", (node,), shape, blocks.dtype, member) if members else node
        for member, (_, node) in enumerate(places)
    )
    return Blocks(nodes, shape, blocks.dtype)


def left(building: Building, slices: Blocks, levels: Sequence[Level], members: Collection[Level]) -> Blocks:
    """Return a block a rank of a result, with the axis of each level where it asks for it.

    Of slices that are members the first one gathers them, the innermost level first. Raise ``LevelError`` for an axis
    that a result cannot have.
    """
    nodes, places, shape, dtype = slices.nodes, tuple(range(len(slices.nodes))), slices.shape, slices.dtype
    behind = sum(level not in members for level in levels)
    for level in reversed(levels):
        at, own = level.result, len(shape) - behind
        if not 0 <= at <= own:
            raise LevelError(f"level {level.name!r} puts its axis at {at} of a result that has {own} axes")
        behind -= level not in members
        if level in members:
            shape = (*shape[:at], level.size, *shape[at:])
            nodes = tuple(
                building.gathered(
                    nodes[first : first + level.size], places[first : first + level.size], at, shape, dtype
                )
                for first in range(0, len(nodes), level.size)
            )
            places = places[:: level.size]
        elif at < (last := len(shape) - 1):
            order = (*range(at), last, *range(at, last))
            shape = tuple(shape[axis] for axis in order)
            nodes = tuple(
                building.node("permute", (node,), shape, dtype, place, arg=order)
                for node, place in zip(nodes, places, strict=True)
            )
    return Blocks(nodes, shape, dtype)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def _last(building: Building, place: tuple[int, str], shape: Shape, wanted: Shape, dtype: str, at: int | None) -> str:
    """Return a block with an axis moved behind all others, or with a new one there along which it is the same."""
    member, node = place
    if at is None:
        node = building.node("reshape", (node,), (*shape, 1), dtype, member)
        return building.node("expand", (node,), wanted, dtype, member)
    if at == len(shape) - 1:
        return node
    order = (*range(at), *range(at + 1, len(shape)), at)
    return building.node("permute", (node,), wanted, dtype, member, arg=order)


def _slice(building: Building, place: tuple[int, str], shape: Shape, dtype: str, axis: int, at: int) -> str:
    member, node = place
    pairs = tuple((at, at + 1) if number == axis else (0, extent) for number, extent in enumerate(shape))
    thin = (*shape[:axis], 1, *shape[axis + 1 :])
    node = building.node("shrink", (node,), thin, dtype, member, arg=pairs)
    return building.node("reshape", (node,), _without(shape, axis), dtype, member)
