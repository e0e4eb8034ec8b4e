"""Meshes, and placements of tensors on them."""

from __future__ import annotations

import itertools
import math
from typing import Final

from conformance.cases.sharded.placement import REPLICATED, Mesh, Placement, Split, even_cuts
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.graph_draft import chance

NAMES: Final = ("i", "j", "k")


@choices.composite
def devices(draw: Draw, count: int) -> tuple[int, ...]:
    """Draw which device is at which position: in the order of their numbers in three of four draws."""
    plain = tuple(range(count))
    turned = draw.one(("plain", "plain", "plain", "turned")) == "turned"
    return tuple(draw(choices.permutations(plain))) if turned else plain


@choices.composite
def placements(draw: Draw, shape: tuple[int, ...], mesh: Mesh, plain: bool = False) -> Placement:
    """Draw where a tensor is: mostly some axis is split, now and then two, one by two mesh axes, or not all is real.

    ``plain`` placements are those that frameworks have words for: bounds are as they are by default, and all is real.
    """
    if not shape or chance(draw, 5):
        return some_replicas(draw, mesh) if not plain and chance(draw, 6) else REPLICATED
    names = [axis.name for axis in mesh]
    axes = draw(choices.permutations(range(len(shape))))
    if len(names) > 1:
        names = draw(choices.permutations(names))
        kind = draw(choices.sampled_from(["one", "crossed", "several", "one"]))
        if kind == "several":
            return Placement(splits=(_split(draw, axes[0], tuple(names), shape, mesh, plain=plain),))
        if kind == "crossed" and len(axes) > 1:
            pairs = zip(axes, names, strict=False)
            return Placement(
                splits=tuple(_split(draw, axis, (name,), shape, mesh, plain=plain) for axis, name in pairs)
            )
    split = _split(draw, axes[0], (names[0],), shape, mesh, plain=plain)
    if not plain and chance(draw, 6):
        return masked(draw, split, mesh, shape)
    return Placement(splits=(split,))


def _split(draw: Draw, axis: int, along: tuple[str, ...], shape: tuple[int, ...], mesh: Mesh, *, plain: bool) -> Split:
    sizes = {each.name: each.size for each in mesh}
    parts = math.prod(sizes[name] for name in along)
    cuts = even_cuts(shape[axis], parts) if plain else draw(bounds(shape[axis], parts))
    return Split(axis=axis, along=along, cuts=cuts)


@choices.composite
def bounds(draw: Draw, extent: int, parts: int) -> tuple[int, ...]:
    """Draw where an axis is cut: as it is by default in half of all draws, else wherever."""
    if chance(draw, 2):
        inner = sorted(draw(choices.integers(0, extent)) for _ in range(parts - 1))
        return (0, *inner, extent)
    return even_cuts(extent, parts)


def masked(draw: Draw, split: Split, mesh: Mesh, shape: tuple[int, ...]) -> Placement:
    """Return a split of which some parts are real: these have all the elements, the others some more."""
    size = next(axis.size for axis in mesh if axis.name == split.along[0])
    real = [False] * size
    for at in draw(choices.subsets(range(size))) if chance(draw, 3) else [draw(choices.integers(0, size - 1))]:
        real[at] = True
    inner = iter(itertools.pairwise(draw(bounds(shape[split.axis], sum(real)))))
    widths = [_width(next(inner)) if each else draw(choices.integers(0, 2)) for each in real]
    cuts = (0, *itertools.accumulate(widths))
    return Placement(
        splits=(Split(axis=split.axis, along=split.along, cuts=cuts),), masks={split.along[0]: tuple(real)}
    )


def _width(pair: tuple[int, int]) -> int:
    return pair[1] - pair[0]


def some_replicas(draw: Draw, mesh: Mesh) -> Placement:
    """Return replicas on some devices only, often on one."""
    axis = mesh[draw.source.below(len(mesh))]
    kept = draw(choices.integers(0, axis.size - 1))
    return Placement(masks={axis.name: tuple(at == kept or chance(draw, 4) for at in range(axis.size))})
