"""A launch over as few axes as its maps allow, so that finding an element divides less."""

from __future__ import annotations

import msgspec

from conformance.backends.opencl.graph.index_map import Affine, IndexMap, Shape, affine, bounds_of
from conformance.backends.opencl.graph.node import Instruction, Launch
from conformance.cases.schedule.kernel_body import Index, Reduce


def coalesced(launch: Launch) -> Launch:
    """Return the launch with neighbouring axes joined where every map steps through both as through one."""
    maps = [found for _, found in launch.reads] + [found for found, _ in launch.stores]
    runs: list[list[int]] = []
    for axis in range(len(launch.extents)):
        if runs and _joins(launch, maps, runs[-1][-1], axis):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    # One axis stays where all have one index alone, for a point must lie somewhere.
    kept = [run for run in runs if _extent(launch, run) > 1 or _indexed(launch, run[0])]
    if len(kept) == len(launch.extents):
        return launch
    place = {run[-1]: number for number, run in enumerate(kept)}
    extents = tuple(_extent(launch, run) for run in kept)
    last = {axis: run[-1] for run in runs for axis in run}
    lines = tuple(_moved(line, place, last) for line in launch.instructions)
    return msgspec.structs.replace(
        launch,
        extents=extents,
        outer=sum(run[-1] < launch.outer for run in kept),
        instructions=lines,
        reads=tuple((node, _over(found, kept, extents)) for node, found in launch.reads),
        stores=tuple((_over(found, kept, extents), dtype) for found, dtype in launch.stores),
    )


def _joins(launch: Launch, maps: list[IndexMap], axis: int, following: int) -> bool:
    """Return whether two axes are one to every map and every instruction."""
    if following == launch.outer or _indexed(launch, axis) or _indexed(launch, following):
        return False
    for line in launch.instructions:
        if isinstance(line, Reduce) and (axis in line.axes) != (following in line.axes):
            return False
    extents = launch.extents
    if extents[axis] == 1 or extents[following] == 1:
        # An axis of one index is left out where no map masks it.
        return all(_full(found[0], each) for found in maps for each in (axis, following) if extents[each] == 1) and (
            extents[following] > 1 or extents[axis] == 1
        )
    return all(
        found[0].strides[axis] == found[0].strides[following] * extents[following]
        and _full(found[0], axis)
        and _full(found[0], following)
        for found in maps
    )


def _full(first: Affine, axis: int) -> bool:
    return bounds_of(first)[axis] == (0, first.extents[axis])


def _indexed(launch: Launch, axis: int) -> bool:
    """Return whether the index is taken, or some map leaves out the one there is, or a fold has no other axis."""
    taken = any(
        (isinstance(line, Index) and line.axis == axis)
        or (isinstance(line, Reduce) and axis in line.axes and all(launch.extents[each] == 1 for each in line.axes))
        for line in launch.instructions
    )
    maps = [found for _, found in launch.reads] + [found for found, _ in launch.stores]
    return taken or (launch.extents[axis] == 1 and any(not _full(found[0], axis) for found in maps))


def _extent(launch: Launch, run: list[int]) -> int:
    found = 1
    for axis in run:
        found *= launch.extents[axis]
    return found


def _moved(line: Instruction, place: dict[int, int], last: dict[int, int]) -> Instruction:
    if isinstance(line, Index):
        return Index(axis=place[line.axis])
    if isinstance(line, Reduce):
        axes = dict.fromkeys(place[last[axis]] for axis in line.axes if last[axis] in place)
        return Reduce(op=line.op, of=line.of, axes=tuple(axes))
    return line


def _over(found: IndexMap, kept: list[list[int]], extents: Shape) -> IndexMap:
    first, bounds = found[0], bounds_of(found[0])
    # The last axis of a run that moves at all has its stride; those of one index move nothing.
    moving = [[axis for axis in run if first.extents[axis] > 1] or run for run in kept]
    strides = [first.strides[axes[-1]] for axes in moving]
    mask = tuple(
        bounds[axes[-1]] if len(axes) == 1 else (0, extent) for axes, extent in zip(moving, extents, strict=True)
    )
    return (affine(extents, strides, first.offset, mask), *found[1:])
