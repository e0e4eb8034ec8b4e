"""The text and the work-items of a launch: by vectors where all of it can be, else point by point."""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.backends.opencl.graph.index_map import IndexMap
from conformance.backends.opencl.graph.node import Instruction, Launch, Node
from conformance.backends.opencl.render import forms
from conformance.backends.opencl.render.matmul_text import Multiplied
from conformance.backends.opencl.render.point import Text, along_rows, by_last_axis, by_rows, storages
from conformance.backends.opencl.render.vectors import Vectors

KEPT: Final = 4096
"""Texts that are kept in memory. Of 5,520 launches of 110 sharded cases 1,400 had a text of their own."""


class Shown(NamedTuple):
    """All of a launch that its text depends on; launches on several devices are often alike in that.

    ``reads`` has for each read the number of its storage, what that storage is of, and the map.
    """

    extents: tuple[int, ...]
    outer: int
    instructions: tuple[Instruction, ...]
    reads: tuple[tuple[int, str, int, IndexMap], ...]
    stores: tuple[tuple[IndexMap, str], ...]
    lanes: int
    generic: bool


def _shown(launch: Launch) -> Shown:
    slots = {node: slot for slot, node in enumerate(storages(launch))}
    reads = tuple((slots[node], node.dtype, node.size, found) for node, found in launch.reads)
    return Shown(launch.extents, launch.outer, launch.instructions, reads, launch.stores, launch.lanes, launch.generic)


def _launch(shown: Shown) -> Launch:
    """Return a launch that shows so, on storages of no device."""
    nodes = {slot: Node(0, dtype, size) for slot, dtype, size, _ in shown.reads}
    reads = tuple((nodes[slot], found) for slot, _, _, found in shown.reads)
    return Launch(
        0, shown.extents, shown.outer, shown.instructions, reads, shown.stores, lanes=shown.lanes, generic=shown.generic
    )


def geometry(launch: Launch, local: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of work-items and of those of a group, whose size is at most ``local``, along each axis."""
    return _geometry(_shown(launch), local)


@lru_cache(maxsize=KEPT)
def _geometry(shown: Shown, local: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    launch = _launch(shown)
    found = forms.form(launch)
    if found is not None:
        return forms.geometry(launch, found)
    extents = launch.extents[: launch.outer]
    count = math.prod(extents)
    if by_rows(launch):
        return (math.prod(extents[:-1]),), (1,)
    if along_rows(launch):
        return (count,), (1,)
    if by_last_axis(launch):
        return (-(-extents[-1] // local) * local, count // extents[-1]), (local, 1)
    return (-(-count // local) * local,), (local,)


def named(text: str) -> str:
    """Return the name of the kernel of ``text``."""
    return f"fused_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def fused(launch: Launch) -> str:
    """Return the OpenCL C of a launch, with ``NAME`` for its name."""
    return _rendered(_shown(launch))[0]


def numbers(launch: Launch) -> tuple[int, ...]:
    """Return the numbers that the kernel of a launch takes as arguments, none of one that is not generic."""
    return _rendered(_shown(launch))[1]


def program(launch: Launch) -> str:
    """Return the name of what is launched: the kernel, its numbers, and the dtypes of which its text knows the bits."""
    stored = [dtype for _, dtype in launch.stores]
    text, given = _rendered(_shown(launch))
    return named("\n".join((text, *map(str, given), *(node.dtype for node, _ in launch.reads), *stored)))


@lru_cache(maxsize=KEPT)
def _rendered(shown: Shown) -> tuple[str, tuple[int, ...]]:
    launch = _launch(shown)
    found = forms.form(launch)
    text = Text(launch) if found is None else (Multiplied if found.product else Vectors)(launch, found)
    return text.kernel(), tuple(text.numbers)
