"""What the executing oracle puts into buffers: small integers, so that few sums of them round in any order."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.dtypes import NUMPY, kind
from conformance.cases.index_map import sizes
from conformance.reference.exactness import parts_of
from conformance.reference.schedule_facts import Facts
from conformance.reference.schedule_memory import POISON, Memory

DATA: Final = {"bool": (0, 1), "integer": (1, 2, 3), "float": (-2, -1, 1, 2), "complex": (-2, -1, 1, 2)}
"""What buffers hold by kind of dtype: no zero, which hides a product, and sums of four exact in every float."""

NARROW: Final = ((-1, 1), (-2, -1, 1, 2), (-1, 0, 0, 0, 1))
"""What floats of 8 bits are instead, draw by draw: 8 of the first add up exactly, and mostly 16 of the last."""


def initial(facts: Facts, seed: int = 0, poison: int = POISON) -> Memory:
    """Return memory with small integers in every preexisting buffer and ``poison`` in every other byte.

    Where means are asked for they are multiples of the counts, as far as half of the digits allow.
    """
    roots = [buffer for buffer in facts.schedule.buffers if buffer.base is None]
    storages = {buffer.id: np.full(buffer.size, poison, np.uint8) for buffer in roots}
    divided = _divided(facts)
    # The storages last, which hold what their parts show.
    for buffer in sorted(facts.schedule.buffers, key=lambda each: each.base is None):
        if buffer.preexisting:
            root, offset = facts.root(buffer.id)
            drawn = _drawn(buffer.id, buffer.size, buffer.dtype, seed, divided)
            storages[root][offset : offset + buffer.size] = drawn[: storages[root].size - offset]
    return Memory(facts, storages)


@lru_cache(maxsize=64)
def _drawn(name: str, size: int, dtype: str, seed: int, divided: int) -> NDArray[np.uint8]:
    held, values, most = NUMPY[dtype], DATA[kind(dtype)], 1
    if kind(dtype) in ("float", "complex"):
        most = 2 ** (ml_dtypes.finfo(parts_of(held)).nmant // 2)
        values = NARROW[seed % len(NARROW)] if held.itemsize == 1 else values
    drawn = np.random.default_rng([seed, *name.encode()]).choice(values, size // held.itemsize)
    return (drawn * (divided if divided <= most else 1)).astype(held).view(np.uint8)


def _divided(facts: Facts) -> int:
    """Return what the means on the way to any node divide by, one after the other, without the powers of two in it."""
    found: dict[str, int] = {}
    nodes = {node.id: node for node in facts.schedule.graph.nodes} if facts.schedule.graph else {}
    for node in nodes.values():
        found[node.id] = max((found[source] for source in node.of), default=1)
        if node.op == "collective" and node.attrs.get("op") == "mean":
            count, least = len(node.members), math.prod(sizes(node.shape, facts.values))
            if node.arg == "all_reduce" and least:
                # Local axes are gone from its shape.
                count *= math.prod(sizes(nodes[node.of[0]].shape, facts.values)) // least
            found[node.id] *= count // (count & -count) or 1
    return max(found.values(), default=1)
