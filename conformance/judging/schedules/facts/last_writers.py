"""Whose value lies in bytes at the end: who wrote them last, and what it says that it wrote."""

from __future__ import annotations

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.judging.clause import SILENT
from conformance.reference.byte_ranges import common, size, without
from conformance.reference.graph.rounding import BESIDE, UNKNOWN
from conformance.reference.schedule.comparison import open_to
from conformance.reference.schedule.data import DRAWS, WIDE_DRAWS
from conformance.reference.schedule.eager import eager
from conformance.reference.schedule.execute import executable, holdable, wrong_as_listed
from conformance.reference.schedule.facts import Facts, Touch
from conformance.reference.schedule.graph import worth


def last_writers(facts: Facts, place: Touch) -> tuple[list[tuple[int, Touch]], bool]:
    """Return the leaves that wrote bytes of a place last, and whether they wrote all of it."""
    left, found = place.ranges, []
    for number in reversed(range(len(facts.leaves))):
        for touch in reversed(facts.touches[number]):
            if touch.write and touch.root == place.root and len(common(left, touch.ranges)):
                found.append((number, touch))
                left = without(left, touch.ranges)
    return found, not len(left)


def computed_by(facts: Facts, number: int) -> frozenset[str]:
    """Return the nodes that a leaf computes: those it names, or else the results that are where it wrote last."""
    leaf, owner = facts.owned[number]
    named = {touch.access.node for touch in facts.touches[number] if touch.write and touch.access.node is not None}
    named.update(leaf.provenance, owner.provenance if owner is not None else ())
    if not named:
        for result in facts.schedule.graph.results if facts.schedule.graph else ():
            place = facts.place(result)
            if place is not None and any(each == number for each, _ in last_writers(facts, place)[0]):
                named.add(result)
    return frozenset(named)


def other_value(facts: Facts, name: str, place: Touch) -> str | None:
    """Return who wrote another value last where a result is said to be; ``SILENT`` where it does not say what.

    A value is told from another by the numbers in it: one that is the other, moved or made again, has no others. What
    a schedule that can be run wrote without a label is seen by running it.
    """
    written, whole = last_writers(facts, place)
    labels = {_value(facts, touch) for _, touch in written}
    if whole and labels <= {name}:
        return None
    if not whole or None in labels:
        return _run(facts)
    names = [label for label in labels if label is not None]
    if not holdable(facts) or any(label in facts.stored for label in names):
        return SILENT
    # What a map masks is no element of the buffer, and zero.
    zeros = any(step.mask is not None for step in place.access.map or ())
    shown = size(place.ranges) // NUMPY[facts.nodes[name].dtype].itemsize
    if all(_among(facts, name, names, seed, shown, zeros=zeros) for seed in range(DRAWS + WIDE_DRAWS)):
        return None
    number, touch = next((number, touch) for number, touch in written if _value(facts, touch) != name)
    return (
        f"result {name!r} is said to be in {place.access.buffer!r}, where {facts.name(number)} wrote "
        f"{touch.access.node!r}"
    )


def _value(facts: Facts, touch: Touch) -> str | None:
    """Return the node whose value a write says it is: of an assign that which is assigned, of parts none."""
    if touch.access.node is None or touch.access.parts:
        return None
    node = facts.nodes[touch.access.node]
    return node.of[1] if node.op == "assign" else node.id


def _run(facts: Facts) -> str | None:
    if executable(facts) is not None:
        return SILENT
    try:
        return None if wrong_as_listed(facts) is None else SILENT
    except (IndexError, ValueError):
        # What leaves its buffers has no values, and is the business of other clauses.
        return SILENT


def _among(facts: Facts, name: str, labels: list[str], seed: int, shown: int, *, zeros: bool) -> bool:
    """Return whether the elements of a value, as far as one value is right, are among those of others, or ``zeros``.

    They are no more numbers than the elements ``shown``. Where those are all of one other value, each is there as often
    as in that.
    """
    (wanted, sure), *others = (_settled(facts, each, seed) for each in (name, *labels))
    if zeros:
        others.append((np.zeros(1, others[0][0].dtype), np.ones(1, np.bool_)))
    if any(other.dtype != wanted.dtype for other, _ in others):
        return _bits_among(wanted, others)
    if len(others) == 1 and sure.all() and others[0][1].all() and others[0][0].size == wanted.size == shown:
        mine, theirs = (np.sort(each.astype(_wide(each))) for each in (wanted, others[0][0]))
        return bool(np.array_equal(mine, theirs, equal_nan=mine.dtype.kind in "fc"))
    if not all(known.all() for _, known in others):
        return True
    pool = np.concatenate([other for other, _ in others]).astype(_wide(wanted))
    own = wanted[sure].astype(_wide(wanted))
    if len(np.unique(own)) > shown + zeros:
        return False
    return bool((np.isin(own, pool) | (own != own)).all())  # noqa: PLR0124 - a NaN differs from itself


def _bits_among(wanted: Array, others: list[tuple[Array, Array]]) -> bool:
    """Return whether the bits of a value are among those of others of another dtype, as those of a bitcast are."""
    if not all(known.all() for _, known in others):
        return True
    held, width = b"".join(other.tobytes() for other, _ in others), wanted.dtype.itemsize
    pool = {held[at : at + width] for at in range(0, len(held), width)}
    bits = wanted.tobytes()
    return all(bits[at : at + width] in pool for at in range(0, len(bits), width))


def _settled(facts: Facts, name: str, seed: int) -> tuple[Array, Array]:
    """Return the elements of a node, and of which one value is right."""
    right = eager(facts, seed)
    found = worth(right.meanings[name], right.memory).reshape(-1)
    shown = open_to(right.mask(name), UNKNOWN | BESIDE)
    return found, np.ones(found.shape, np.bool_) if shown is None else ~shown.reshape(-1)


def _wide(values: Array) -> np.dtype[np.generic]:
    """Return a dtype of NumPy's own that sorts and has every value of another one."""
    return values.dtype if values.dtype.kind in "biuc" else np.dtype(np.float64)
