"""Every kind of placement of a tensor on a mesh, each at the bounds at which implementations go wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from conformance.cases.program.program import Axis
from conformance.cases.sharded.placement import REPLICATED, Mesh, Placement, Split, even_cuts

Shape = tuple[int, ...]


def even_places(shape: Shape, mesh: Mesh, *, several: bool = True) -> list[Placement]:
    """Return the placements in parts of one size, which frameworks have words for.

    ``several`` mesh axes cut one axis in some of them; Torch's ``Shard`` cuts along one.
    """
    found = [REPLICATED, *_crossed(shape, mesh)]
    for axis, along in itertools.product(range(len(shape)), _groups(mesh, several=several)):
        parts = _count(mesh, along)
        if shape[axis] % parts == 0:
            found.append(_cut(axis, along, even_cuts(shape[axis], parts)))
    return found


def default_places(shape: Shape, mesh: Mesh, *, several: bool = True) -> list[Placement]:
    """Return the placements of an axis in the parts that it has by default, whether these are of one size or not."""
    cuts = itertools.product(range(len(shape)), _groups(mesh, several=several))
    return [REPLICATED, *(_cut(axis, along, even_cuts(shape[axis], _count(mesh, along))) for axis, along in cuts)]


def odd_places(shape: Shape, mesh: Mesh) -> list[Placement]:
    """Return the placements by bounds of their own, with empty parts, and of which not all is real."""
    found = [*_masked(shape, mesh)]
    for axis, along in itertools.product(range(len(shape)), _groups(mesh, several=True)):
        found += [_cut(axis, along, cuts) for cuts in odd_cuts(shape[axis], _count(mesh, along))]
    return found


def odd_cuts(extent: int, parts: int) -> list[tuple[int, ...]]:
    """Return bounds that leave the first, the middle or the last part empty, all but one, and ones by default."""
    if parts == 1:
        return [(0, extent)]
    fewer = even_cuts(extent, parts - 1)
    middle, most = parts // 2, min(extent, max(extent - parts + 1, 1))
    found = [
        (0, *fewer),
        (*fewer[: middle + 1], *fewer[middle:]),
        (*fewer, extent),
        (*(0,) * (middle + 1), *(extent,) * (parts - middle)),
        (0, *(most,) * (parts > 1), *(min(most + more, extent) for more in range(1, parts - 1)), extent),
        even_cuts(extent, parts),
    ]
    return list(dict.fromkeys(found))


def one_real(shape: Shape, mesh: Mesh, axis: int, at: int) -> Placement:
    """Return a placement of which one part along the first mesh axis is real; the others have one element each."""
    return _real(shape, {axis: (mesh[0], at)})


def one_device(shape: Shape, mesh: Mesh, at: tuple[int, ...]) -> Placement:
    """Return a placement on two mesh axes of which the part of one device is real; the others have less."""
    return _real(shape, dict(enumerate(zip(mesh[:2], at, strict=True))))


def _real(shape: Shape, found: Mapping[int, tuple[Axis, int]]) -> Placement:
    """Return the placement that cuts each axis along a mesh axis, of which one part is real."""
    splits, masks = [], {}
    for axis, (by, at) in found.items():
        cuts = (0, *itertools.accumulate(shape[axis] if part == at else 1 for part in range(by.size)))
        splits.append(Split(axis=axis, along=(by.name,), cuts=cuts))
        masks[by.name] = tuple(part == at for part in range(by.size))
    return Placement(splits=tuple(splits), masks=masks)


def _masked(shape: Shape, mesh: Mesh) -> Iterator[Placement]:
    first = mesh[0]
    for axis in range(len(shape)):
        yield one_real(shape, mesh, axis, (first.size - 1) * (axis % 2))
    if first.size > 2:
        # Of three or more parts the first and the last are real, and those between are longer than both.
        widths = (1, *(3,) * (first.size - 2), shape[0] - 1)
        split = Split(axis=0, along=(first.name,), cuts=(0, *itertools.accumulate(widths)))
        yield Placement(splits=(split,), masks={first.name: tuple(n in (0, first.size - 1) for n in range(first.size))})
    for each in mesh:
        yield Placement(masks={each.name: tuple(n == each.size - 1 for n in range(each.size))})


def _crossed(shape: Shape, mesh: Mesh) -> list[Placement]:
    """Return both ways in which two mesh axes cut two axes evenly."""
    if len(mesh) < 2 or len(shape) < 2:
        return []
    pairs = [tuple(zip((0, 1), order, strict=True)) for order in (mesh[:2], mesh[1::-1])]
    return [
        Placement(splits=tuple(_split(n, axis, shape) for n, axis in pair))
        for pair in pairs
        if all(shape[n] % axis.size == 0 for n, axis in pair)
    ]


def _split(number: int, axis: Axis, shape: Shape) -> Split:
    return Split(axis=number, along=(axis.name,), cuts=even_cuts(shape[number], axis.size))


def _groups(mesh: Mesh, *, several: bool) -> list[tuple[str, ...]]:
    """Return the mesh axes along which one axis may be cut: each alone, and two in either order."""
    names = [axis.name for axis in mesh]
    return [(name,) for name in names] + (list(itertools.permutations(names, 2)) if several else [])


def _count(mesh: Mesh, along: tuple[str, ...]) -> int:
    found = 1
    for axis in mesh:
        found *= axis.size if axis.name in along else 1
    return found


def _cut(axis: int, along: tuple[str, ...], cuts: tuple[int, ...]) -> Placement:
    return Placement(splits=(Split(axis=axis, along=along, cuts=cuts),))
