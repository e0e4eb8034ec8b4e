"""Which placements fit a mesh and a tensor; everything else is refused, with what would be legal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from conformance.cases.sharded.placement import Mesh, Placement, Split, real_parts, reals
from conformance.cases.tensor.dtypes import kind


def device_problem(mesh: Mesh, devices: tuple[int, ...]) -> str | None:
    """Return what is wrong with the devices of a mesh: one is named twice."""
    twice = sorted({device for device in devices if devices.count(device) > 1})
    if twice:
        return f"device {twice[0]} is named twice in {list(devices)}; each of the {len(devices)} must be another one"
    del mesh
    return None


def placement_problem(shape: tuple[int, ...], dtype: str, placement: Placement, mesh: Mesh) -> str | None:
    """Return why a tensor cannot be placed so, with the axis, the bounds and what would be legal; else ``None``."""
    return next(_problems(shape, dtype, placement, mesh), None)


def _problems(shape: tuple[int, ...], dtype: str, placement: Placement, mesh: Mesh) -> Iterator[str]:
    """Yield what is wrong; what comes after the first problem supposes that there was none."""
    sizes = {axis.name: axis.size for axis in mesh}
    used = [name for split in placement.splits for name in split.along] + list(placement.partial)
    for name in (*used, *placement.masks):
        if name not in sizes:
            yield f"{name!r} is no axis of the mesh, which has {', '.join(sizes)}"
    for name in used:
        if used.count(name) > 1:
            yield f"mesh axis {name!r} is used twice; it can cut one axis, or hold one kind of contribution"
    for name, mask in placement.masks.items():
        if len(mask) != sizes[name]:
            yield f"the mask of mesh axis {name!r} has {len(mask)} entries for {sizes[name]} positions"
    if not any(reals(placement, mesh)):
        yield "no part is real; at least one must be"
    axes = [split.axis for split in placement.splits]
    for split in placement.splits:
        yield from _axis_problem(split.axis, axes, shape)
        yield from _cuts_problem(split, sizes)
        yield from _tiling_problem(split, placement, mesh, shape)
    for name, fold in placement.partial.items():
        if fold in ("and", "or", "xor") and kind(dtype) in ("float", "complex"):
            yield f"contributions of {dtype} along {name!r} have no {fold}"


def parts_problem(dtype: str, placement: Placement, mesh: Mesh) -> str | None:
    """Return why the parts that a tensor is made of, where they are told, make none; else ``None``."""
    made_of, devices = placement.made_of, math.prod(axis.size for axis in mesh)
    if made_of is None:
        return None
    if not made_of:
        return f"it is made of no part; {devices} devices have one each"
    if len(made_of) != devices:
        return f"it is made of {len(made_of)} parts for {devices} devices; each has one"
    if others := sorted(set(made_of) - {dtype}):
        return f"it is of {dtype}, and a part is of {others[0]}; all parts have one dtype"
    return None


def _axis_problem(axis: int, axes: list[int], shape: tuple[int, ...]) -> Iterator[str]:
    if not shape:
        yield f"axis {axis} is cut, and the tensor has no axes: it can only be replicated"
    if not 0 <= axis < len(shape):
        yield f"axis {axis} is out of range; the tensor has axes 0 to {len(shape) - 1}"
    if axes.count(axis) > 1:
        yield f"axis {axis} is cut twice; name several mesh axes in one split instead"


def _cuts_problem(split: Split, sizes: dict[str, int]) -> Iterator[str]:
    parts = math.prod(sizes[name] for name in split.along)
    if not split.along:
        yield f"axis {split.axis} is cut along no mesh axis"
    if len(split.cuts) != parts + 1:
        along = ", ".join(split.along)
        yield (
            f"axis {split.axis} is cut into {max(len(split.cuts) - 1, 0)} parts by the bounds {list(split.cuts)}; "
            f"there are {parts} positions along {along}, so {parts + 1} bounds are right"
        )


def _tiling_problem(split: Split, placement: Placement, mesh: Mesh, shape: tuple[int, ...]) -> Iterator[str]:
    extent, cuts = shape[split.axis], split.cuts
    if cuts[0] != 0 or any(end < begin for begin, end in itertools.pairwise(cuts)):
        yield f"axis {split.axis} is cut at {list(cuts)}; bounds begin at 0, and none is less than the one before"
    parts = zip(itertools.pairwise(cuts), real_parts(split, placement, mesh), strict=True)
    total = sum(end - begin for (begin, end), counts in parts if counts)
    if total != extent:
        yield f"axis {split.axis} has {extent} elements, and the bounds {list(cuts)} are of {total} real ones"
