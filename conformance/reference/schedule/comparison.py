"""How the memory that a schedule leaves differs from the meaning of its graph.

Of what is made of a sum or a product of floats that may round in some order the values of every order are right: they
are within a bound (``beyond``). Zeros of either sign are equal, and so are all NaNs: a collective that pads its chunks
with zeros and adds them turns -0.0 into 0.0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.reference.graph.bounds import Reals
from conformance.reference.graph.movement import Stored
from conformance.reference.graph.rounding import BESIDE, UNKNOWN, Mask
from conformance.reference.schedule.data import initial
from conformance.reference.schedule.eager import otherwise, reach
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.graph import Evaluation, worth
from conformance.reference.schedule.memory import Memory


def difference(
    facts: Facts, seen: Memory, right: Evaluation, seed: int = 0, open_bits: int = UNKNOWN | BESIDE
) -> str | None:
    """Return how the memory ``seen`` differs from the meaning of the graph on the same data, or ``None``.

    Elements of which something is known that is among ``open_bits`` are not compared.

    Compared are the values of all results, and of whatever else has a place, where they are said to be, and of all that
    is assigned to, in the storages that every alias shows, and bit for bit the rest of what was there before.
    """
    if _difference(facts, seen, right, None, seed, open_bits) is None:
        return None
    # What depends on undefined bytes is only left out of what differs: who is right needs no second evaluation.
    return _difference(facts, seen, right, otherwise(facts, right, seed), seed, open_bits)


def _difference(
    facts: Facts, seen: Memory, right: Evaluation, other: Evaluation | None, seed: int, open_bits: int
) -> str | None:
    """Return the difference; elements that are others in the ``other`` evaluation are not compared."""
    for name, array in placed(facts, seen, right):
        another = None if other is None else worth(other.meanings[name], other.memory).reshape(-1)
        wanted = worth(right.meanings[name], right.memory).reshape(-1)
        problem = differs(array, wanted, another, open_to(right.mask(name), open_bits))
        if problem:
            return f"result {name!r}: {problem}"
    stray = _changed(facts, seen, seed)
    for stored in right.assigned:
        root, offset = facts.root(stored.buffer)
        at = stored.at.reshape(-1)
        found, wanted = (memory.array(stored.buffer)[at] for memory in (seen, right.memory))
        another = None if other is None else other.memory.array(stored.buffer)[at]
        problem = differs(found, wanted, another, open_to(right.mask_of(stored), open_bits))
        if problem and root in stray:
            return f"buffer {stored.buffer!r}: of what is assigned there, {problem}"
        width = NUMPY[facts.buffers[stored.buffer].dtype].itemsize
        for byte in range(width) if root in stray else ():
            stray[root][offset + at * width + byte] = False
    for name, changed in stray.items():
        if changed.any():
            return f"buffer {name!r}: byte {int(np.argmax(changed))} changed, and nothing is assigned there"
    return None


def placed(facts: Facts, seen: Memory, right: Evaluation) -> Iterator[tuple[str, Array]]:
    """Yield the results, and whatever else has a place, with the elements that are seen there."""
    results = () if facts.schedule.graph is None else facts.schedule.graph.results
    for name in dict.fromkeys((*results, *(place.node for place in facts.schedule.places))):
        place, meaning = facts.place(name), right.meanings[name]
        if place is None:
            # A name of storage is there and nowhere else; what is assigned to storage that was there before is below.
            if not isinstance(meaning, Stored) or facts.is_given(meaning.buffer):
                continue
            yield name, worth(meaning, seen).reshape(-1)
        elif place.access.map is None:
            yield name, seen.array(place.access.buffer)[: worth(meaning, right.memory).size]
        else:
            yield name, seen.read(place.access, facts.values).reshape(-1)


def beyond(facts: Facts, seen: Memory, right: Evaluation, seed: int) -> str | None:
    """Return which element of several right values is farther from the eager one than rounding explains, or ``None``.

    Nothing is said of what depends on undefined bytes. The bounds are only made where an open element is another.
    """
    given: list[tuple[str, str | Stored, Array, Array, Mask | None]] = [
        (f"result {name!r}", name, array, worth(right.meanings[name], right.memory).reshape(-1), mask)
        for name, array in placed(facts, seen, right)
        if (mask := right.mask(name)) is not None
    ]
    for stored in right.assigned:
        if facts.root(stored.buffer)[0] not in facts.given:
            continue
        at = stored.at.reshape(-1)
        found, wanted = (memory.array(stored.buffer)[at] for memory in (seen, right.memory))
        given.append((f"buffer {stored.buffer!r}", stored, found, wanted, right.mask_of(stored)))
    for where, place, array, wanted, mask in given:
        unsettled = open_to(mask, UNKNOWN)
        if unsettled is None or kind(logical(wanted.dtype)) not in ("float", "complex"):
            continue
        with np.errstate(all="ignore"):
            off = unsettled.reshape(-1) & ~_equal(array, wanted)
        if not off.any():
            continue
        known = reach(facts, seed) if otherwise(facts, right, seed) is right else None
        if problem := known and _too_far(known.of(place).reshape(-1), array, wanted, off):
            return f"{where}: {problem}"
    return None


def _too_far(far: Reals, array: Array, wanted: Array, off: NDArray[np.bool_]) -> str | None:
    """Return which of the elements that are ``off`` is farther than it may be, or ``None``."""
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        near = ~off | np.isinf(far) | (np.abs(array.astype(wide) - wanted.astype(wide)) <= far)
    if near.all():
        return None
    at = int(np.argmin(near))
    return f"element {at} is {array[at]}, and {wanted[at]} give or take {far[at]:.3g} is right"


def open_to(mask: Mask | None, open_bits: int) -> NDArray[np.bool_] | None:
    """Return of which elements something is known that is among ``open_bits``; ``None`` where nothing is."""
    return None if mask is None else np.asarray((mask & np.uint8(open_bits)) > 0)


def _changed(facts: Facts, seen: Memory, seed: int) -> dict[str, NDArray[np.bool_]]:
    """Return which bytes are not as they were, of those of each storage that held data."""
    before = initial(facts, seed)
    found = {name: np.zeros(before.storages[name].size, np.bool_) for name in facts.given}
    for name, ranges in facts.given.items():
        for start, stop in ranges:
            found[name][start:stop] = seen.storages[name][start:stop] != before.storages[name][start:stop]
    return found


def differs(
    seen: Array, right: Array, other: Array | None = None, rounded: NDArray[np.bool_] | None = None
) -> str | None:
    """Return how ``seen`` differs from ``right``, where ``other`` is no different and ``rounded`` is not set."""
    if seen.dtype != right.dtype or seen.shape != right.shape:
        return f"it is {seen.size} {seen.dtype}, expected {right.size} {right.dtype}"
    with np.errstate(all="ignore"):
        same = _equal(seen, right)
        if seen.dtype == np.bool_:
            # A bool is one of two bytes; any other is no value, though NumPy takes it for true.
            same &= (seen.view(np.uint8) <= 1) | (right.view(np.uint8) > 1)
        if other is not None:
            same |= (right != other) & ((right == right) | (other == other))  # noqa: PLR0124 - a NaN differs from itself
    if rounded is not None:
        same |= rounded.reshape(-1)
    if same.all():
        return None
    at = int(np.argmin(same))
    found = f"the byte {seen.view(np.uint8)[at]}" if seen.dtype == np.bool_ else seen[at]
    return f"{int((~same).sum())} of {same.size} elements differ; element {at} is {found}, expected {right[at]}"


def _equal(one: Array, other: Array) -> NDArray[np.bool_]:
    """Return which elements are equal, or are both NaN."""
    same = np.asarray(one == other)
    return same if same.all() else np.asarray(same | ((one != one) & (other != other)))  # noqa: PLR0124 - a NaN differs from itself
