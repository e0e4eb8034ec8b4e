"""Parts that several joins want alike: read once, and written to all of them by one kernel.

An all_gather or a broadcast then reads every block once, where each join alone would read them all. As in ``joins``,
whoever writes a part of a storage that others write too must begin where a sub-buffer may.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Join, Node, Part
from conformance.backends.opencl.graph.view import View, coalesced
from conformance.backends.opencl.render.kernels import SLOTS, Body, Stream
from conformance.backends.opencl.schedule.elision.joins import Place
from conformance.backends.opencl.schedule.item import Kernel, Region, Work
from conformance.backends.opencl.schedule.regions import region
from conformance.backends.opencl.settings import Settings

Multicasts = dict[Part, tuple[Place, ...]]
"""The places that the kernel of a part writes; none for a part that the kernel of another writes too."""

CARRIED: Final = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
"""Element width in bytes to a dtype whose elements are moved with every bit as it is."""


def multicasts(joins: Iterable[tuple[Join, Hashable]], alignment: int, settings: Settings) -> Multicasts:
    """Return which parts of ``joins``, each with its stage and turn, are long runs that more than one of them wants."""
    found: dict[tuple[Node, View, Hashable], list[tuple[Part, Place]]] = {}
    for join, turn in joins:
        for part in join.parts:
            if part.value is None or part.at.size < settings.stream_from:
                continue
            taken, at = coalesced((part.value.view, part.at))
            if taken.strides == at.strides == (1,) and at.offset * FORMATS[join.dtype].itemsize % alignment == 0:
                place = join, at.offset, at.size
                found.setdefault((part.value.node, part.value.view, turn), []).append((part, place))
    chosen: Multicasts = {}
    for wanted in found.values():
        if 1 < len(wanted) <= SLOTS:
            chosen.update((part, ()) for part, _ in wanted)
            chosen[wanted[0][0]] = tuple(place for _, place in wanted)
    return chosen


def multicast(part: Part, places: tuple[Place, ...], alignment: int) -> Kernel:
    """Return the kernel that writes a part to all its places, on the device where it comes from."""
    assert part.value is not None  # else it would not be wanted
    node, (taken, _) = part.value.node, coalesced((part.value.view, part.at))
    size, width = part.at.size, FORMATS[node.dtype].itemsize
    source = region(node, (taken.offset, taken.offset + size), alignment)
    targets = tuple(Region(*place) for place in places)
    run = View((size,), (1,))
    stores = tuple((slot, run) for slot in range(len(targets)))
    work = Work(0, size, ((0, run.shifted(taken.offset - source.first)),), stores)
    body = Body("copy", CARRIED[width], CARRIED[width], stream=Stream(1, len(targets)))
    accesses = (source.access(write=False), *(target.access(write=True) for target in targets))
    return Kernel(node.device, accesses, (), body, targets, (source,), (work,))
