"""Where the points of an access lie in its storage."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.schedule.index_map import Indices, elements, once
from conformance.cases.schedule.kernel_body import Body, Fetch, Load, Store
from conformance.cases.schedule.schedule import Access, Item, Kernel, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.facts import Facts, Touch

KEPT: Final = 1 << 14
"""Points of an access up to which their elements are kept for the next clause that asks: 16 bytes each."""


def positions(facts: Facts, access: Access, values: Values) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the first byte in its storage of each point of an access by map, and whether the point touches any."""
    assert access.map is not None
    few = math.prod(sizes(access.map[0].extents, values)) <= KEPT
    found, valid = facts.elements(access, values) if few else elements(access.map, values)
    first = once(found) * NUMPY[facts.buffers[access.buffer].dtype].itemsize + facts.root(access.buffer)[1]
    return np.broadcast_to(first, found.shape), valid


def moving_axes(found: Indices, valid: NDArray[np.bool_]) -> frozenset[int]:
    """Return the axes along which points touch different elements, or only some of them any."""
    found, valid = np.broadcast_arrays(once(found), once(valid))
    return frozenset(
        axis
        for axis in range(found.ndim)
        if found.shape[axis] > 1
        and (np.diff(np.where(valid, found, -1), axis=axis).any() or np.diff(valid, axis=axis).any())
    )


def behind(leaf: Item, first: Access, second: Access) -> bool:
    """Return whether a barrier of all points of a kernel is between what it does by one access and by another one.

    A barrier of groups of points waits for one group alone.
    """
    bodies = leaf.bodies if isinstance(leaf, Kernel) else ()
    phases = [[body.phase for body in bodies if _uses(leaf, body, access)] for access in (first, second)]
    return all(phases) and max(phases[0]) < min(phases[1]) and not any(body.groups for body in bodies)


def _uses(leaf: Item, body: Body, access: Access) -> bool:
    used = (each.access for each in body.instructions if isinstance(each, Load | Fetch | Store))
    return any(accesses(leaf)[number] is access for number in used)


def crossing(facts: Facts, number: int, read: Touch, written: Touch) -> int | None:
    """Return an element that leaf ``number`` reads at another point than it writes it at, or ``None``.

    Maps decide; where an access has none, nothing is known. Nothing is crossed where a barrier is between.
    """
    leaf, pair = facts.leaves[number], (read.access, written.access)
    if behind(leaf, *pair) or behind(leaf, *reversed(pair)):
        return None
    if read.access.map is None or written.access.map is None or read.root != written.root:
        return None
    if not overlap(read.ranges, written.ranges):
        return None
    values, buffer = facts.bound(leaf), facts.buffers[read.access.buffer]
    source, valid = positions(facts, read.access, values)
    target, stored = positions(facts, written.access, values)
    if source.shape != target.shape:
        source, valid = np.broadcast_arrays(once(source), once(valid))
    reach, width = NUMPY[facts.buffers[written.access.buffer].dtype].itemsize, NUMPY[buffer.dtype].itemsize
    # Views of two dtypes share parts of elements; what begins at multiples of ``grain`` is shared as a whole.
    grain = math.gcd(width, reach, facts.root(buffer.id)[1] - facts.root(written.access.buffer)[1])
    bytes_written = (target[stored][:, None] + np.arange(0, reach, grain)).reshape(-1)
    for part in range(0, width, grain):
        hit = valid & np.isin(source + part, bytes_written)
        if source.shape == target.shape:
            hit &= ~stored | (source + part < target) | (source + part >= target + reach)
        if hit.any():
            return (int(source[hit][0]) - facts.root(buffer.id)[1]) // width
    return None
