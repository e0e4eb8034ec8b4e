"""Which values of a round get storage: what has to be stored, and more where a kernel would hold too much of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from conformance.backends.base import Refused
from conformance.backends.opencl.fuse.freshness import NEVER, Freshness
from conformance.backends.opencl.fuse.multi_output_fusion import merged, unfit
from conformance.backends.opencl.fuse.partition import Home, Partition, partition
from conformance.backends.opencl.graph.index_map import apart, identity
from conformance.backends.opencl.graph.rounds import RoundValues
from conformance.backends.opencl.graph.value import GraphValue, base, plain
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.backends.opencl.settings import Settings


def kernels(
    order: Sequence[GraphValue],
    round_values: RoundValues,
    wanted: Iterable[GraphValue],
    kept_on: Collection[GraphValue],
    kept: Collection[GraphValue],
    settings: Settings,
) -> Partition:
    """Return the kernels of the values in ``order``, several results of which are stored by one where they fit.

    Raise ``Refused`` where a kernel would take more storages than it may.
    """
    forced = _forced(order, round_values, wanted, kept_on, kept)
    limits: dict[int, int] = {}
    while True:
        fresh = Freshness(order, round_values.assigns, round_values.replaced, forced, kept)
        found = partition(order, round_values.assigns, forced, kept, fresh, settings, limits, {})
        if not (_crossing(found.homes, forced) | _crowded(found.homes, settings, limits, round_values)):
            break
    together = merged(found, fresh, settings)
    while together:
        found = partition(order, round_values.assigns, forced, kept, fresh, settings, limits, together)
        bad = unfit(found, together, settings)
        if not bad:
            break
        together = {value: leader for value, leader in together.items() if value not in bad}
    else:
        found = partition(order, round_values.assigns, forced, kept, fresh, settings, limits, {})
    return found


def _forced(
    order: Sequence[GraphValue],
    round_values: RoundValues,
    wanted: Iterable[GraphValue],
    kept_on: Collection[GraphValue],
    kept: Collection[GraphValue],
) -> dict[GraphValue, str]:
    """Return the values that get storage whatever their users are, with the reason."""
    forced: dict[GraphValue, str] = {}
    reached = set(order)
    fresh = Freshness(order, round_values.assigns, round_values.replaced, (), kept)

    def store(value: GraphValue, reason: str) -> None:
        if value in reached and value not in kept and value.op != "const":
            forced.setdefault(value, reason)

    results = [value for value in wanted if value in kept_on or not _viewed(value, round_values, kept)]
    # Those first that are stored as a whole: of these others are views.
    for value in sorted(results, key=lambda each: each not in kept_on and _kept_by(each) is not base(each)):
        if value in kept_on:
            store(value, "a result that is needed later")
        elif not (strided(value) and base(value) in forced):
            store(_kept_by(value), "a result")
    # What is kept already takes nothing any more.
    for value in (each for each in order if each not in kept):
        if value.op == "copy":
            store(value, "a copy")
            if not _side_by_side(value.of[0], {*kept, *forced}):
                store(_run_of(value.of[0]), "a copy takes it")
        elif value.op == "received":
            for each in value.of:
                if why := _unfit(each, value, fresh):
                    store(each, why)
        elif value.op == "contig":
            store(value, "it was asked for contiguous")
        elif value.op == "gather":
            data = plain(value.of[0])
            if data.op not in ("load", "received"):
                store(data, "indices that are data choose of it")
    return forced


def _unfit(operand: GraphValue, received: GraphValue, fresh: Freshness) -> str:
    """Return why a collective does not take an operand where it lies; nothing if it does."""
    taken = base(operand)
    if not strided(operand) or taken.op not in ("load", "received"):
        return "a collective takes it"
    # What an earlier round computed is not in the order, nor is what that was made of.
    stale = taken.op == "load" and fresh.until.get(taken, NEVER) <= fresh.after[received]
    return "it is overwritten before a collective takes it" if stale else ""


def _kept_by(value: GraphValue) -> GraphValue:
    """Return what is stored to give a value: it, or what it is a movement of that adds and leaves out nothing."""
    return base(value) if strided(value) and base(value).size <= value.size else value


def strided(value: GraphValue) -> bool:
    """Return whether a value is its base, seen by one map without pads."""
    return value.op != "move" or (value.arg.mask is None and value.of[0].op != "move")


def _viewed(value: GraphValue, round_values: RoundValues, kept: Collection[GraphValue]) -> bool:
    """Return whether a value is there already, as a view of a buffer or of what was computed before."""
    below = base(value)
    if not strided(value):
        return False
    seen = (value.arg,) if value.op == "move" else identity(value.shape)
    return below in kept or (below.op == "load" and round_values.unchanged(below, seen))


def _side_by_side(value: GraphValue, kept: Collection[GraphValue]) -> bool:
    """Return whether a value is a run of elements of a storage that is there, whatever its kernel is."""
    below = base(value)
    if below.op not in ("load", "received", "copy") and below not in kept:
        return False
    return value is below or (strided(value) and View(value.shape, value.arg.strides).strides == _dense(value))


def _run_of(value: GraphValue) -> GraphValue:
    """Return what is stored to have a value as a run of elements: what it is movement of, where that has its order."""
    whole = strided(value) and value.op == "move" and base(value).size == value.size
    return base(value) if whole and View(value.shape, value.arg.strides).strides == _dense(value) else value


def _dense(value: GraphValue) -> tuple[int, ...]:
    strides = contiguous(value.shape).strides
    return tuple(0 if extent == 1 else stride for extent, stride in zip(value.shape, strides, strict=True))


def _crossing(homes: Iterable[Home], forced: dict[GraphValue, str]) -> bool:
    """Force the values of assigns that read their target elsewhere than they write it; return whether there are any."""
    found = False
    for home in homes:
        assign = home.assign
        if assign is None or home.value in forced:
            continue
        rank = len(home.value.shape)
        for (_, at), value in home.loads():
            if value.op != "load" or value.arg[0] != assign.buffer:
                continue
            same = at.axes == tuple(range(rank)) and at.map == assign.map
            if value.number in home.taken or not (same or apart(at.map, (assign.map,))):
                forced[home.value] = f"it reads elements of {assign.buffer} where others are written"
                found = True
                break
    return found


def _crowded(homes: Iterable[Home], settings: Settings, limits: dict[int, int], round_values: RoundValues) -> bool:
    """Lower the limits of kernels that take too many storages; return whether there are any.

    Raise ``Refused`` for one that takes too many for a single operation.
    """
    found = False
    for home in homes:
        taken = sum(value.op != "const" for value in home.stored)
        if taken >= settings.most_buffers:
            number = home.value.number
            if len(home.asked) <= 1 or limits.get(number) == 0:
                name = round_values.made.get(home.value) or (home.assign.asked if home.assign else home.value.op)
                raise Refused(
                    f"node {name!r}: its kernel takes {taken + 1} buffers, of which one may have "
                    f"{settings.most_buffers}, and nothing of it can be stored before"
                )
            limits[number] = max(0, min(limits.get(number, 1 << 30), len(home.asked)) // 2)
            found = True
    return found
