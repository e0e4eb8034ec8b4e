"""Where collectives take place: meshes, the axes that are named, and groups of the positions along them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Final

from conformance.cases.program.program import Axis, Groups
from conformance.generate import choices
from conformance.reference.situations import axes_word, groups_word, world_word

PARTITIONS: Final = ("none", "even", "strided", "unsorted", "uneven", "singletons")
"""Kinds of groups for operations that allow groups of any sizes."""

EQUAL: Final = ("none", "even", "strided", "unsorted", "singletons")
"""Kinds of groups for operations that reject unequal sizes."""

MESHES: Final = (
    *((2,), (1,), (3,), (4,), (5,), (6,), (7,), (8,)),
    *((2, 2), (2, 3), (3, 2), (2, 4), (1, 4), (3, 1), (2, 2, 2), (2, 1, 3), (1, 2), (1, 1)),
)
"""Extents of meshes."""

GREAT: Final = ((17,), (16,), (12,), (3, 6), (4, 4), (3, 3, 2), (64,))
"""Extents of meshes of more than eight ranks, which are within the claims of few backends."""

_GREAT: Final = choices.steered([False] * 25 + [True], ("world",), lambda great: ("more" if great else "",))


@dataclass(frozen=True)
class Place:
    """A mesh, the axes that a step names, and groups of one kind."""

    mesh: tuple[Axis, ...]
    axes: tuple[str, ...]
    kind: str
    groups: Groups | None


def place(draw: choices.Draw, kinds: Sequence[str], mesh: tuple[Axis, ...] | None = None) -> Place:
    """Draw a mesh, or take the given one, with axes of it in any order and groups of one of several kinds."""
    found = draw(_places(tuple(kinds), mesh, mesh is None and draw(_GREAT)))
    if found.kind != "unsorted":
        return found
    assert found.groups is not None
    flat = tuple(position for group in found.groups for position in group)
    order = draw(orders(flat))
    if order == sorted(order):
        order = order[::-1]
    size = len(found.groups[0])
    groups = tuple(tuple(order[first : first + size]) for first in range(0, len(order), size))
    return Place(found.mesh, found.axes, found.kind, groups)


@cache
def _places(kinds: tuple[str, ...], mesh: tuple[Axis, ...] | None, great: bool) -> choices.Choice[Place]:
    meshes = [mesh] if mesh else [tuple(map(Axis, "ijk", sizes)) for sizes in (GREAT if great else MESHES)]
    found = [place for one in meshes for place in _on(one, kinds)]
    return choices.steered(found, ("groups", "world", "axes"), _levels)


def _levels(place: Place) -> tuple[str, ...]:
    groups = "unsorted" if place.kind == "unsorted" else groups_word(place.groups)
    world = math.prod(axis.size for axis in place.mesh)
    return groups, world_word(world), axes_word(place.mesh, place.axes)


def _on(mesh: tuple[Axis, ...], kinds: Sequence[str]) -> Iterator[Place]:
    names = [axis.name for axis in mesh]
    sizes = {axis.name: axis.size for axis in mesh}
    for count in range(len(names), 0, -1):
        for axes in permutations(names, count):
            positions = math.prod(sizes[name] for name in axes)
            for kind in kinds:
                for groups in _grouped(positions, kind):
                    yield Place(mesh, axes, kind, groups)


def _grouped(count: int, kind: str) -> Iterator[Groups | None]:
    """Yield groups of ``count`` positions of one kind, of every size that there is."""
    positions = tuple(range(count))
    if kind == "none":
        yield None
    elif kind == "singletons":
        yield tuple((position,) for position in positions)
    elif kind == "uneven":
        for cut in sorted({1, count // 2, count - 1} - {0, count}):
            if 2 * cut != count:
                yield positions[:cut], positions[cut:]
        for one, two in ((1, 3), (2, 5), (3, 4)) if count > 5 else ():
            # Three groups, of which the last has the most members but rank 0, and others an odd or an even number.
            if two < count:
                yield positions[:one], positions[one:two], positions[two:]
    else:
        for size in range(count, 1, -1):
            if count % size == 0 and (kind != "strided" or size < count):
                step = count // size
                if kind == "strided":
                    yield tuple(positions[first::step] for first in range(step))
                else:
                    yield tuple(positions[first : first + size] for first in range(0, count, size))


def wrong_groups(draw: choices.Draw, count: int) -> Groups:
    """Draw groups that are no partition of ``count`` positions."""
    size = draw.one([size for size in range(count, 0, -1) if count % size == 0])
    groups = tuple(tuple(range(first, first + size)) for first in range(0, count, size))
    at = draw.one((len(groups) - 1, 0, len(groups) // 2))
    one, twice = groups[at], groups[at - 1][0]
    odd = draw.one([(*one, twice), (*one[:-1], count), one[:-1], (-1, *one[1:]), (*one[:-1], twice)])
    return (*groups[:at], odd, *groups[at + 1 :])


def uneven_groups(draw: choices.Draw, count: int) -> Groups | None:
    """Draw two groups of ``count`` positions in any order, of different sizes where there are more than two."""
    order = tuple(draw(orders(tuple(range(count)))))
    cut = 1 if count < 3 else draw.one([at for at in range(1, count) if 2 * at != count])
    return (order[:cut], order[cut:]) if count > 1 else None


@cache
def orders(members: tuple[int, ...]) -> choices.Choice[list[int]]:
    """Return the choice of an order of members."""
    return choices.permutations(members)
