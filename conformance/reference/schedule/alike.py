"""Whether two kernels do the same to the same bytes, whatever words their bodies have: a sum of bools is their or."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.schedule.schedule import Kernel
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.schedule.data import dangerous
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.memory import POISON, Memory, perform

TRIED: Final = 6
"""How often bytes are drawn: a byte that differs for one pair of values in eight is then seen in most kernels."""

MOST_BYTES: Final = 1 << 22
"""Bytes of all storages up to which kernels are run."""


def alike(facts: Facts, one: int, other: int) -> bool:
    """Return whether two leaves, kernels of as many accesses, write the same bytes wherever they read the same ones.

    True too of what cannot be tried: storages that are too large, buffers of other sizes.
    """
    mine, theirs = facts.leaves[one], facts.leaves[other]
    assert isinstance(mine, Kernel)
    assert isinstance(theirs, Kernel)
    pairs = [(a.buffer, b.buffer) for a, b in zip(mine.accesses, theirs.accesses, strict=False)]
    if len(mine.accesses) != len(theirs.accesses):
        return False
    known = facts.buffers
    roots = [each for each in facts.schedule.buffers if each.base is None]
    if sum(each.size for each in roots) > MOST_BYTES or any(known[a].size != known[b].size for a, b in pairs):
        return True
    for seed in range(TRIED):
        memories = [Memory(facts, {each.id: np.full(each.size, POISON, np.uint8) for each in roots}) for _ in range(2)]
        for place, (a, b) in enumerate(pairs):
            drawn = _bytes(known[a].dtype, known[a].size, seed, place)
            for memory, name in zip(memories, (a, b), strict=True):
                memory.array(name).view(np.uint8)[:] = drawn
        for memory, leaf, number in zip(memories, (mine, theirs), (one, other), strict=True):
            perform(memory, leaf, number)
        for a, b in pairs:
            if memories[0].array(a).tobytes() != memories[1].array(b).tobytes():
                return False
    return True


def _bytes(dtype: str, size: int, seed: int, place: int) -> NDArray[np.uint8]:
    """Return bytes of values that a dtype has, the dangerous ones among them."""
    among = np.array([0, 1], np.uint8) if dtype == "bool" else np.concatenate(dangerous(dtype))
    drawn = np.random.default_rng([seed, place]).integers(0, len(among), size // NUMPY[dtype].itemsize)
    return np.ascontiguousarray(among[drawn]).view(np.uint8)
