"""What the executing oracle puts into buffers: small integers, so that few sums of them round in any order.

Later draws are wide: a clamp, a narrower dtype on the way or a fold that begins at zero changes no small number.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

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


DRAWS: Final = 3
"""How often small integers are drawn: a sum that happens to be zero hides what was added twice."""

WIDE_DRAWS: Final = 3
"""How often wide data are drawn after them. In the second of these all that can be is below zero."""

WIDE: Final = {
    "float32": (-(2**11) - 1, -2.25, -0.5, 0.75, 1.5, 6.25, 2**11 + 1),
    "float64": (-(2**24) - 1, -2.25, -0.5, 0.75, 2**24 + 1),
}
"""Wide floats: more digits than the next narrower dtype has. Others have few to spare, and stay as they are."""

_MULTIPLYING: Final = ("mul", "div", "recip")


def initial(facts: Facts, seed: int = 0, poison: int = POISON) -> Memory:
    """Return memory with data in every preexisting buffer and ``poison`` in every other byte.

    Draws from ``DRAWS`` on are of wide integers, and of wide floats where the graph multiplies no two elements: an
    engine may divide by multiplying, which small numbers do not show. Where means are asked for all are multiples of
    the counts, as far as half of the digits allow.
    """
    roots = [buffer for buffer in facts.schedule.buffers if buffer.base is None]
    storages = {buffer.id: np.full(buffer.size, poison, np.uint8) for buffer in roots}
    divided, wide = _divided(facts), not _multiplies(facts)
    # The storages last, which hold what their parts show.
    for buffer in sorted(facts.schedule.buffers, key=lambda each: each.base is None):
        if buffer.preexisting:
            root, offset = facts.root(buffer.id)
            drawn = _drawn(buffer.id, buffer.size, buffer.dtype, seed, divided, wide=wide)
            storages[root][offset : offset + buffer.size] = drawn[: storages[root].size - offset]
    return Memory(facts, storages)


@lru_cache(maxsize=64)
def _drawn(name: str, size: int, dtype: str, seed: int, divided: int, *, wide: bool) -> NDArray[np.uint8]:
    held, most = NUMPY[dtype], 1
    values: tuple[float, ...] = DATA[kind(dtype)]
    if kind(dtype) in ("float", "complex"):
        most = 2 ** (ml_dtypes.finfo(parts_of(held)).nmant // 2)
        values = NARROW[seed % len(NARROW)] if held.itemsize == 1 else values
    if seed >= DRAWS and kind(dtype) == "integer":
        values = _ends(held)
    elif seed >= DRAWS and wide:
        values = WIDE.get(dtype, values)
    if seed == DRAWS + 1:
        values = tuple(each for each in values if each < 0) or values
    # Of small and large numbers together NumPy would make floats.
    among = np.array(values, np.uint64 if dtype == "uint64" else None)
    drawn = np.random.default_rng([seed, *name.encode()]).choice(among, size // held.itemsize)
    return (drawn * (divided if divided <= most else 1)).astype(held).view(np.uint8)


def _ends(dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Return integers from one end of a dtype to the other, without zero; sums of them wrap in every order alike."""
    least, most = (int(end) for end in (ml_dtypes.iinfo(dtype).min, ml_dtypes.iinfo(dtype).max))
    listed = (least, least + 3, -5, -2, -1, 1, 2, 5, 100, most - 3, most)
    return tuple(each for each in listed if least <= each <= most and each)


def _multiplies(facts: Facts) -> bool:
    graph = facts.schedule.graph
    functions = graph.functions.values() if graph else ()
    nodes = [node for nodes in (facts.nodes.values(), *(each.nodes for each in functions)) for node in nodes]
    return any(node.op == "alu" and node.arg in _MULTIPLYING for node in nodes)


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
