"""Where the elements of a logical tensor are: what is asked of an implementation, and what it says of itself.

A *mesh* is a grid of devices with named axes. Its devices are numbered in row-major order, by position. A *placement*
says what each device holds, by rules; a *layout* lists it, device by device.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from conformance.cases.graph.elementwise import Fold
from conformance.cases.program.program import Axis

Mesh = tuple[Axis, ...]
Box = tuple[tuple[int, int], ...]
"""A half-open range of each axis of a logical tensor."""


class Split(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An axis of the tensor in consecutive parts, one for each position along some mesh axes, the major one first.

    ``cuts`` are where parts begin and end, from 0: part ``n`` is ``cuts[n]`` to ``cuts[n + 1]``, and may be empty.
    """

    axis: int
    along: tuple[str, ...]
    cuts: tuple[int, ...]


class Placement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Parts along some mesh axes, and replicas along all others.

    Along the mesh axes of ``partial`` devices hold contributions, of which the tensor is the fold. ``masks`` say of
    each position along a mesh axis whether what the devices there hold is real. The tensor is what is real: an axis
    that is cut has as many elements as its real parts have together, in their order.

    Two words are for what has no meaning. ``outside`` numbers the devices that hold all of the tensor where they are
    not those of the mesh: one, for a plain tensor. ``made_of`` are the dtypes of the parts that it is made of, one for
    each device, where that is to be told.
    """

    splits: tuple[Split, ...] = ()
    partial: dict[str, Fold] = {}
    masks: dict[str, tuple[bool, ...]] = {}
    outside: tuple[int, ...] = ()
    made_of: tuple[str, ...] | None = None


class Layout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The elements of the logical tensor that each device holds, in the order of the mesh; ``None`` holds nothing real.

    Devices with the same box have replicas. Along the mesh axes of ``partial`` they have contributions to the same
    elements instead.
    """

    boxes: tuple[Box | None, ...]
    partial: dict[str, Fold] = {}


REPLICATED = Placement()


def world(mesh: Mesh) -> int:
    """Return how many devices a mesh has."""
    return math.prod(axis.size for axis in mesh)


@lru_cache(maxsize=256)
def positions(mesh: Mesh) -> tuple[tuple[int, ...], ...]:
    """Return the coordinates of each device, in row-major order."""
    return tuple(itertools.product(*(range(axis.size) for axis in mesh)))


def part_of(split: Split, mesh: Mesh, at: Sequence[int]) -> int:
    """Return the number of the part that the device at these coordinates holds."""
    names = [axis.name for axis in mesh]
    found = 0
    for name in split.along:
        where = names.index(name)
        found = found * mesh[where].size + at[where]
    return found


def real(placement: Placement, mesh: Mesh, at: Sequence[int]) -> bool:
    """Return whether what the device at these coordinates holds is real."""
    return all(placement.masks[axis.name][at[n]] for n, axis in enumerate(mesh) if axis.name in placement.masks)


def reals(placement: Placement, mesh: Mesh) -> tuple[bool, ...]:
    """Return of each device whether what it holds is real."""
    if not placement.masks:
        return (True,) * world(mesh)
    return tuple(real(placement, mesh, at) for at in positions(mesh))


def real_parts(split: Split, placement: Placement, mesh: Mesh) -> tuple[bool, ...]:
    """Return of each part whether some device holds it for real."""
    if not placement.masks:
        return (True,) * (len(split.cuts) - 1)
    held = {part_of(split, mesh, at) for at in positions(mesh) if real(placement, mesh, at)}
    return tuple(part in held for part in range(len(split.cuts) - 1))


def held(shape: tuple[int, ...], placement: Placement, mesh: Mesh) -> tuple[tuple[int, ...], ...]:
    """Return the shape of what each device holds of a tensor, real or not."""
    found = []
    for at in positions(mesh):
        mine = list(shape)
        for split in placement.splits:
            part = part_of(split, mesh, at)
            mine[split.axis] = split.cuts[part + 1] - split.cuts[part]
        found.append(tuple(mine))
    return tuple(found)


def layout_of(shape: tuple[int, ...], placement: Placement, mesh: Mesh) -> Layout:
    """Return the elements of a tensor of ``shape`` that each device holds, by a placement that fits it."""
    if not placement.splits and not placement.masks:
        whole = tuple([(0, extent) for extent in shape])
        return Layout(boxes=(whole,) * world(mesh), partial=placement.partial)
    starts = {split.axis: _starts(split, placement, mesh) for split in placement.splits}
    boxes: list[Box | None] = []
    for at in positions(mesh):
        box = [(0, extent) for extent in shape]
        for split in placement.splits:
            part = part_of(split, mesh, at)
            first = starts[split.axis][part]
            box[split.axis] = (first, first + split.cuts[part + 1] - split.cuts[part])
        boxes.append(tuple(box) if real(placement, mesh, at) else None)
    return Layout(boxes=tuple(boxes), partial=placement.partial)


def _starts(split: Split, placement: Placement, mesh: Mesh) -> list[int]:
    """Return where each part begins in the logical tensor, of which only real parts are."""
    widths = [end - begin for begin, end in itertools.pairwise(split.cuts)]
    counted = [width * real for width, real in zip(widths, real_parts(split, placement, mesh), strict=True)]
    return [0, *itertools.accumulate(counted)]


def even_cuts(extent: int, parts: int) -> tuple[int, ...]:
    """Return where an axis is cut by default: parts of the extent by their number, rounded up, while there is some."""
    size = -(-extent // parts) if extent else 0
    return tuple(min(size * part, extent) for part in range(parts + 1))
