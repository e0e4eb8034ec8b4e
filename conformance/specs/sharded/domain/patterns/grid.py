"""Patterns on a grid of devices: which mesh axis cuts an axis, in which order, and over which one a fold goes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement, held
from conformance.specs.domains import choices
from conformance.specs.sharded.domain.patterns.listing import Sharded, below, counted
from conformance.specs.sharded.domain.places import default_places, even_places, odd_places, one_device

Pattern = Callable[[Sharded], list[Node]]


def _every_place(e: Sharded, shape: tuple[int, ...]) -> list[Placement]:
    """Return the placements that cut a tensor without masks, each once, in an order that is drawn."""
    some = even_places if e.placed == "even" else default_places
    found = [*some(shape, e.mesh), *even_places(shape, e.mesh), *(odd_places(shape, e.mesh) if e.odd else [])]
    places: list[Placement] = []
    for each in found:
        if each.splits and not each.masks and each not in places:
            places.append(each)
    return e.asked.draw(choices.permutations(places))


def _same_shapes(e: Sharded) -> list[Node]:
    """Combine and move tensors whose parts have the same shapes on every device, and hold other elements."""
    shape = (e.count, e.count)
    places = _every_place(e, shape)
    alike = [
        pair
        for pair in itertools.combinations(places, 2)
        if held(shape, pair[0], e.mesh) == held(shape, pair[1], e.mesh)
    ]
    found = []
    for first, second in alike[:3]:
        one, two = e.held(counted(shape, e.whole), e.whole, first), e.held(counted(shape, e.whole, 9), e.whole, second)
        told = e.held(np.resize([True, False, False], shape), "bool", first)
        found += [e.alu("sub", one, two), e.alu("sub", two, one), e.alu("where", told, two, two)]
        found += [e.alu("where", told, e.to(one, second), two), e.to(one, second), e.to(two, first)]
    return found or [e.to(e.held(counted(shape, e.whole), e.whole, place), places[0]) for place in places[:4]]


def _over_each_axis(e: Sharded) -> list[Node]:
    """Fold along axes that one mesh axis cuts, the other, both in either order, and each cuts one of."""
    found = []
    for place in _every_place(e, e.square)[:6]:
        at = e.held(below(e.square, e.signed), e.signed, place)
        found += [e.fold(word, at, *axes) for word in ("add", "max") for axes in ((0,), (1,), (0, 1))]
    return found


def _crossed_and_turned(e: Sharded) -> list[Node]:
    """Turn, flip, fold and combine squares of which each mesh axis cuts an axis, so that every part has one shape."""
    shape = (e.count, e.count)
    crossed = [place for place in even_places(shape, e.mesh) if len(place.splits) > 1]
    found = []
    for place in crossed:
        at = e.held(counted(shape, e.whole), e.whole, place)
        turned = e.turn(at, 1, 0)
        found += [turned, e.alu("sub", at, turned), e.to(turned, place), e.fold("add", turned, 0)]
        found += [e.turn(e.spread(at, 2), 1, 2, 0), e.alu("lt", turned, at)]
    return found


def _round_trips(e: Sharded) -> list[Node]:
    """Move a tensor through every placement of a grid."""
    first, *places = _every_place(e, e.square)
    at = e.held(counted(e.square, e.whole), e.whole, first)
    found = []
    for place in places[:10]:
        at = e.to(at, place)
        found.append(at)
    return [*found, e.to(at, first), e.to(at)]


def _one_axis_late(e: Sharded) -> list[Node]:
    """Let folds over one mesh axis stay pending while the other cuts what is kept, and combine and move them."""
    found = []
    crossed = [place for place in _every_place(e, e.square) if len(place.splits) > 1]
    for place in crossed[:2]:
        at = e.held(counted(e.square, e.signed) % 11 - 5, e.signed, place)
        home = e.program.homes[str(at.arg)]
        for word in ("add", "max"):
            p = e.late(e.held(counted(e.square, e.signed) % 7 - 3, e.signed, home), "add" if word == "add" else "max")
            shape = tuple(int(extent) for extent in p.shape)
            found += [p, e.to(p), e.to(p, e.cut(shape)), e.alu("mul", p, p), e.fold(word, p, 0)]
            found += [e.alu("sub", e.fold(word, at, 0), p)] if at.shape[1] == p.shape[0] else []
    return found


def _corners(e: Sharded) -> list[Node]:
    """Use and move tensors of which one device alone has what is real, along two mesh axes."""
    shape, found = (3, 4), []
    for at in itertools.product(*(range(axis.size) for axis in e.mesh[:2])):
        corner = one_device(shape, e.mesh, at)
        here = e.held(counted(shape, e.signed) - 9, e.signed, corner)
        there = e.to(e.held(counted(shape, e.signed, 5), e.signed, e.cut(shape)), corner)
        found += [e.to(here), there, e.to(here, e.cut(shape)), e.alu("sub", there, here), e.turn(here, 1, 0)]
        found += [e.fold("max", here, 0), e.fold("add", there, 0, 1), e.pad(there, (1, 0), (0, 2))]
    return found


INSIDE: Final[Mapping[str, Pattern]] = {
    "same shapes": _same_shapes,
    "over each axis": _over_each_axis,
    "round trips": _round_trips,
    "crossed and turned": _crossed_and_turned,
}
"""Patterns of which frameworks with meshes of two axes have the words."""

LATE: Final[Mapping[str, Pattern]] = {"one axis late": _one_axis_late}
"""Patterns of folds that stay pending over one axis."""

MASKED: Final[Mapping[str, Pattern]] = {"corners": _corners}
"""Patterns of what is real on one device alone."""
