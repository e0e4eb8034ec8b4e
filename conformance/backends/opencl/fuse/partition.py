"""Which values get a storage, and what is computed again wherever it is needed: the borders of kernels.

One pass goes from the last value to the first, so that all who need a value are known when it is met. It is computed
within their kernels, at the points where they need it, unless that would compute a reduction more than once, unless it
was asked for by itself, or unless the kernel has enough to do already: then a kernel of its own stores it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from conformance.backends.opencl.fuse.freshness import Freshness
from conformance.backends.opencl.graph.index_map import (
    Affine,
    IndexMap,
    Shape,
    affine,
    bounds_of,
    identity,
    names_nothing,
    permuted,
    steps,
    then,
    widened,
)
from conformance.backends.opencl.graph.rounds import Assign
from conformance.backends.opencl.graph.value import GraphValue, plain
from conformance.backends.opencl.settings import Settings

ROWS: Final = 16
"""Rows from which a work-item may have each, its folds included."""

ALONE: Final = 2**12
"""Points, and elements that are folded, up to which there may be fewer."""

POINT_BY_POINT: Final = "it stores a value too that it needs at the point where it computes it"
SAME_STORAGE: Final = "it stores a value too that is made of the same storage at the same points"
"""Why kernels were merged."""


class At(msgspec.Struct, frozen=True):
    """Where a value is needed within a kernel: at points over ``axes`` of it, mapped to elements of the value."""

    axes: tuple[int, ...]
    map: IndexMap


class Instance(msgspec.Struct, frozen=True, eq=False):
    """A value at some points of a kernel. ``of`` are its sources there, and ``axes`` those a reduction goes over.

    ``stored`` says that the value is read from its storage. ``valid`` are the points of a pad that lie in its source.
    """

    value: GraphValue
    at: At
    of: tuple[Instance, ...] = ()
    axes: tuple[int, ...] = ()
    stored: bool = False
    valid: IndexMap | None = None


Key = tuple[int, At]


class Home:
    """A kernel as it is found: what it stores, and what it is asked for on the way."""

    def __init__(self, value: GraphValue, assign: Assign | None = None, reason: str = "") -> None:
        """Begin with the points of the value."""
        self.value, self.assign, self.reasons = value, assign, [reason] if reason else []
        self.roots: list[GraphValue] = [] if assign is not None else [value]
        self.extents: list[int] = list(value.shape)
        self.asked: dict[Key, None] = {}
        self.values: dict[int, GraphValue] = {}
        self.stored: set[GraphValue] = set()
        self.taken: set[int] = set()
        self.inner: dict[tuple[tuple[int, ...], Shape], tuple[int, ...]] = {}

    def loads(self) -> list[tuple[Key, GraphValue]]:
        """Return what is read from storages, and where."""
        return [(key, self.values[key[0]]) for key in self.asked if self.values[key[0]] in self.stored]

    def axes_for(self, outer: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
        """Return axes to fold over at points of ``outer``; folds of one shape at the same points share them."""
        found = self.inner.get((outer, shape))
        if found is None:
            first = len(self.extents)
            found = self.inner[outer, shape] = tuple(range(first, first + len(shape)))
            self.extents.extend(shape)
        return found


class Partition(msgspec.Struct, frozen=True):
    """The kernels, and all values that have a storage."""

    homes: tuple[Home, ...]
    stored: frozenset[GraphValue]


Limits = Mapping[int, int]
"""How much a kernel may compute, by the number of its value, where it is less than the settings say."""


def reachable(roots: Iterable[GraphValue], leaves: Collection[GraphValue] = ()) -> list[GraphValue]:
    """Return the values that the roots need, from the last to the first; nothing below ``leaves``."""
    found: set[GraphValue] = set()
    stack = list(roots)
    while stack:
        value = stack.pop()
        if value not in found:
            found.add(value)
            if value not in leaves:
                stack.extend(value.of)
    return sorted(found, key=lambda value: -value.number)


def partition(
    order: Sequence[GraphValue],
    assigns: Sequence[Assign],
    forced: Mapping[GraphValue, str],
    kept: Collection[GraphValue],
    fresh: Freshness,
    settings: Settings,
    limits: Limits,
    together: Mapping[GraphValue, GraphValue],
) -> Partition:
    """Return the kernels of the values in ``order``, the last first.

    ``forced`` are the values that need a storage, with the reason; those ``kept`` have one, and so have leaves.
    ``together`` names for values the later one in whose kernel they are stored too.
    """
    round_values = _Wishes(assigns)
    for value in order:
        wanted = round_values.of(value)
        leaf = value in kept or value.op in ("const", "received") or (value.op == "load" and value not in forced)
        if leaf:
            reason = _stale(value, wanted, fresh) if value.op == "load" else ""
        else:
            reason = forced.get(value) or _apart(value, wanted, fresh, settings, limits)
        if reason and (value in forced or round_values.needed_outside(wanted, together.get(value))):
            round_values.store(value, wanted, reason, together.get(value, value))
        elif leaf:
            for home, _ in wanted:
                home.stored.add(value)
        else:
            for home, at in wanted:
                round_values.sources(home, value, at)
    return Partition(tuple(round_values.homes), frozenset(round_values.stored))


class _Wishes:
    """The kernels found so far, and who needs what at which points."""

    def __init__(self, assigns: Sequence[Assign]) -> None:
        self.homes = [Home(each.value, each, "an assign") for each in assigns]
        self.stored: set[GraphValue] = set()
        self._asking: dict[GraphValue, list[tuple[Home, At]]] = {}
        self._by_value: dict[GraphValue, Home] = {}
        for home in self.homes:
            self._ask(home, home.value, At(tuple(range(len(home.extents))), identity(home.value.shape)))

    def of(self, value: GraphValue) -> list[tuple[Home, At]]:
        """Return who needs a value; all who do have been met."""
        return self._asking.pop(value, [])

    def needed_outside(self, wanted: Sequence[tuple[Home, At]], leader: GraphValue | None) -> bool:
        """Return whether any but the kernel of ``leader`` needs a value, which that one computes."""
        own = None if leader is None else self._by_value.get(leader)
        return own is None or any(home is not own for home, _ in wanted)

    def store(self, value: GraphValue, wanted: Sequence[tuple[Home, At]], reason: str, leader: GraphValue) -> None:
        """Store a value, in a kernel of its own or in that of ``leader``, and let whoever needs it read it there."""
        self.stored.add(value)
        own = self._by_value.get(leader)
        for home, _ in wanted:
            if home is not own:
                home.stored.add(value)
        if value.op == "copy":
            return
        if own is None:
            own = self._by_value[value] = Home(value, None, reason)
            self.homes.append(own)
        else:
            own.roots.append(value)
            read = any(home is own for home, _ in wanted)
            own.reasons.append(POINT_BY_POINT if read else SAME_STORAGE)
        at = At(tuple(range(len(value.shape))), identity(value.shape))
        own.asked[value.number, at] = None
        own.values[value.number] = value
        self.sources(own, value, at)

    def sources(self, home: Home, value: GraphValue, at: At) -> None:
        """Note what a kernel needs to compute a value at some points."""
        for source, there in _sources(home, value, at):
            if not names_nothing(there.map):
                self._ask(home, source, there)

    def _ask(self, home: Home, value: GraphValue, at: At) -> None:
        at = needed(value, at)
        key = value.number, at
        if key not in home.asked:
            home.asked[key] = None
            home.values[value.number] = value
            self._asking.setdefault(value, []).append((home, at))


def _apart(
    value: GraphValue, wanted: Sequence[tuple[Home, At]], fresh: Freshness, settings: Settings, limits: Limits
) -> str:
    """Return why a value is stored although nobody asked for it by itself; nothing if it is not."""
    if not wanted or value.op == "move":
        # Movement costs nothing; what is moved is looked at by itself.
        return ""
    found = _stale(value, wanted, fresh)
    if any(len(home.asked) > limits.get(home.value.number, settings.most_computed) for home, _ in wanted):
        found = found or "its user computes enough already"
    if not settings.fuse and value.op != "iota":
        found = found or "nothing is fused"
    if value.op == "reduce":
        if len(wanted) > 1 or not settings.fuse_reduce:
            found = found or "several users of a reduction"
        home, at = wanted[0]
        if math.prod(home.extents[axis] for axis in at.axes) > value.size or not _for_all(home, value, at, settings):
            found = found or "its user needs each element of a reduction more than once"
    return found


def _for_all(home: Home, value: GraphValue, at: At, settings: Settings) -> bool:
    """Return whether a fold at some points of a kernel is made once: for each point, or for a row of them."""
    outer = [axis for axis in range(len(home.value.shape)) if home.extents[axis] > 1]
    here = [axis for axis in at.axes if home.extents[axis] > 1]
    if set(here) >= set(outer):
        return True
    rows = math.prod(home.extents[axis] for axis in here)
    # What one work-item does alone others cannot do beside it.
    small = max(home.value.size, value.of[0].size) <= ALONE
    return settings.fuse_rows and here == outer[:-1] and (rows >= ROWS or small)


def _stale(value: GraphValue, wanted: Sequence[tuple[Home, At]], fresh: Freshness) -> str:
    """Return why a value has to be stored before what it is made of is overwritten; nothing if it need not."""
    if (
        any(fresh.stale(value, home.value, home.assign) for home, _ in wanted)
        and fresh.until[value] > fresh.after[value]
    ):
        return "what it is made of is overwritten before its user runs"
    return ""


def needed(value: GraphValue, at: At) -> At:
    """Return where a value is really needed: a fold that is the same along an axis is needed once for all of it."""
    if value.op != "reduce":
        return at
    first, *rest = at.map
    bounds = bounds_of(first)
    kept = [
        place
        for place, (extent, step) in enumerate(zip(first.extents, first.strides, strict=True))
        if step or extent == 1 or bounds[place] != (0, extent)
    ]
    if len(kept) == len(at.axes):
        return at
    mask = tuple(bounds[place] for place in kept)
    narrow = affine(
        tuple(first.extents[place] for place in kept), [first.strides[place] for place in kept], first.offset, mask
    )
    return At(tuple(at.axes[place] for place in kept), (narrow, *rest))


def _sources(home: Home, value: GraphValue, at: At) -> list[tuple[GraphValue, At]]:
    """Return the sources of a value where it is needed, each with the points where they are needed."""
    if value.op == "move":
        return [(value.of[0], At(at.axes, then(at.map, value.arg)))]
    if value.op == "reduce":
        return [(value.of[0], inside(home, value, at))]
    if value.op == "gather":
        data, index = plain(value.of[0]), value.of[1]
        home.taken.add(data.number)
        return [(data, At(at.axes, then(at.map, base_of(value)))), (index, At(at.axes, then(at.map, index_of(value))))]
    return [(each, at) for each in value.of]


def inside(home: Home, value: GraphValue, at: At) -> At:
    """Return where a reduction needs its source."""
    source, axes = value.of[0], value.arg[1]
    shape = tuple(source.shape[axis] for axis in axes)
    own = home.axes_for(at.axes, shape)
    rest = [axis for axis in range(len(source.shape)) if axis not in axes]
    order = [*rest, *axes]
    # The reduction's points and its own axes, in that order, are the source with its axes in another order.
    back = permuted(source.shape, order)
    return At((*at.axes, *own), then(widened(at.map, shape), back))


def base_of(value: GraphValue) -> Affine:
    """Return the map of a gather's points to its data where all indices are 0."""
    data, index = value.of
    axis, rank = value.arg, len(index.shape)
    every = steps(data.shape)
    return affine(value.shape, (*every[:axis], *(0,) * rank, *every[axis + 1 :]))


def index_of(value: GraphValue) -> Affine:
    """Return the map of a gather's points to its indices."""
    _, index = value.of
    axis, rank = value.arg, len(index.shape)
    behind = len(value.shape) - axis - rank
    return affine(value.shape, (*(0,) * axis, *steps(index.shape), *(0,) * behind))
