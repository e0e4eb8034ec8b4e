"""Whether two kernels do the same to the same bytes, whatever words their bodies have: a sum of bools is their or."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conformance.cases.schedule.schedule import Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.schedule.data import dangerous
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.memory import POISON, Memory, perform

TRIED: Final = 6
"""How often bytes are drawn: a byte that differs for one pair of values in eight is then seen in most kernels."""

MOST_BYTES: Final = 1 << 22
"""Bytes of all storages up to which kernels are run."""


def alike(facts: Facts, one: int, other: int) -> bool | None:
    """Return whether two leaves, kernels of as many accesses, write the same bytes wherever they read the same ones.

    ``None`` of what cannot be tried: storages that are too large, buffers of other sizes, kernels of several bodies of
    which one alone reads what it has written, and what touches elements that no buffer has.
    """
    kernels = [_kernel(facts, number) for number in (one, other)]
    if len({len(kernel.accesses) for kernel in kernels}) > 1:
        return False
    places = [tuple(_place(facts, access.buffer) for access in kernel.accesses) for kernel in kernels]
    roots = {each.id: each.size for each in facts.schedule.buffers if each.base is None}
    if sum(roots.values()) > MOST_BYTES or any(a.size != b.size for a, b in zip(*places, strict=True)):
        return None
    labels = _labels(roots, *places)
    if any(len(kernel.bodies) > 1 for kernel in kernels) and not all(map(_one_each, places, labels)):
        return None
    try:
        return all(_same(facts, (one, other), places, labels, seed) for seed in range(TRIED))
    except ScheduleError:
        return None


class Place(NamedTuple):
    """The bytes of the buffer that an access names, in its storage."""

    root: str
    offset: int
    size: int
    dtype: str

    def of(self, storages: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return these bytes of the storages, as a view."""
        return storages[self.root][self.offset : self.offset + self.size]


Places = tuple[Place, ...]
Labels = dict[str, NDArray[np.int64]]


def _kernel(facts: Facts, number: int) -> Kernel:
    leaf = facts.leaves[number]
    assert isinstance(leaf, Kernel)
    return leaf


def _place(facts: Facts, buffer: str) -> Place:
    root, offset = facts.root(buffer)
    return Place(root, offset, facts.buffers[buffer].size, facts.buffers[buffer].dtype)


def _labels(roots: Mapping[str, int], mine: Places, theirs: Places) -> tuple[Labels, Labels]:
    """Number every byte of two memories, such that those that both kernels have to see as one have one number.

    A kernel that works in place has one byte where the other has two: they must be equal for both to read the same.
    """
    starts = dict(zip(roots, np.cumsum([0, *roots.values()]).tolist(), strict=False))
    ours: Labels = {name: np.arange(start, start + roots[name]) for name, start in starts.items()}
    others: Labels = {name: each + sum(roots.values()) for name, each in ours.items()}
    changed = True
    while changed:
        changed = False
        for a, b in zip(mine, theirs, strict=True):
            seen, there = a.of(ours), b.of(others)
            least = np.minimum(seen, there)
            changed |= bool((seen != least).any() or (there != least).any())
            seen[:], there[:] = least, least
    return ours, others


def _one_each(places: Places, labels: Labels) -> bool:
    """Return whether a number stands for one byte alone of those that a kernel names."""
    named = {place.root: np.zeros(labels[place.root].size, bool) for place in places}
    for place in places:
        place.of(named)[:] = True
    numbers = np.concatenate([labels[root][met] for root, met in named.items()])
    return len(np.unique(numbers)) == len(numbers)


def _same(
    facts: Facts, leaves: tuple[int, int], places: Sequence[Places], labels: tuple[Labels, Labels], seed: int
) -> bool:
    """Return whether two kernels write the same, run on memories drawn with ``seed`` that are equal by ``labels``."""
    content = {root: np.full(each.size, POISON, np.uint8) for root, each in labels[0].items()}
    for number, place in enumerate(places[0]):
        place.of(content)[:] = _bytes(place.dtype, place.size, seed, number)
    # A byte of the second memory alone is seen by neither kernel.
    flat = np.concatenate([*content.values(), *(np.full(each.size, POISON, np.uint8) for each in content.values())])
    memories = [Memory(facts, {root: flat[each] for root, each in mine.items()}) for mine in labels]
    for memory, number in zip(memories, leaves, strict=True):
        perform(memory, facts.leaves[number], number)
    accesses = [each for number in leaves for each in enumerate(_kernel(facts, number).accesses)]
    written = sorted({place for place, access in accesses if access.write})
    mine, theirs = (
        [place[number].of(memory.storages).tobytes() for number in written]
        for place, memory in zip(places, memories, strict=True)
    )
    return mine == theirs


def _bytes(dtype: str, size: int, seed: int, place: int) -> NDArray[np.uint8]:
    """Return bytes of values that a dtype has, the dangerous ones among them."""
    among = np.array([0, 1], np.uint8) if dtype == "bool" else np.concatenate(dangerous(dtype))
    drawn = np.random.default_rng([seed, place]).integers(0, len(among), size // NUMPY[dtype].itemsize)
    return np.ascontiguousarray(among[drawn]).view(np.uint8)
