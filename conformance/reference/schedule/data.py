"""What the executing oracle puts into buffers: small integers, so that few sums of them round in any order.

Later draws are wide: a clamp, a narrower dtype on the way or a fold that begins at zero changes no small number. The
last ones are dangerous: what is true of numbers is not true of infinities, NaNs and zeros.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import sizes
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.reference.exactness import parts_of
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.memory import POISON, Memory

SMALL: Final = 1 << 18
"""Bytes of all storages up to which what was drawn, and what came of it, is kept for the next clause that asks.

A schedule is asked about some thirty memories. One of 250 nodes in 133 kB was judged in 70 s where 64 kB were kept, and
is in 3.3 s.
"""

DATA: Final = {"bool": (0, 1), "integer": (1, 2, 3), "float": (-2, -1, 1, 2), "complex": (-2, -1, 1, 2)}
"""What buffers hold by kind of dtype: no zero, which hides a product, and sums of four exact in every float."""

NARROW: Final = ((-1, 1), (-2, -1, 1, 2), (-1, 0, 0, 0, 1))
"""What floats of 8 bits are instead, draw by draw: 8 of the first add up exactly, and mostly 16 of the last."""


DRAWS: Final = 3
"""How often small integers are drawn: a sum that happens to be zero hides what was added twice."""

WIDE_DRAWS: Final = 3
"""How often wide data are drawn after them. In the second of these all that can be is below zero, and in the third
integers are as great as can be: one alone is no index of any axis."""

WIDE: Final = {
    "float8_e4m3fn": (-9, -2.25, -0.5, 0.75, 1.5, 6.5, 9, 13),
    "float8_e5m2": (-1280, -2.5, -0.5, 0.75, 1.5, 5, 640),
    "bfloat16": (-(2**7) - 1, -2.25, -0.5, 0.75, 1.5, 6.25, 2**7 + 1, 2**9 + 12),
    "float16": (-(2**10) - 1, -2.25, -0.5, 0.75, 1.5, 6.25, 2**10 + 1),
    "float32": (-(2**11) - 1, -2.25, -0.5, 0.75, 1.5, 6.25, 2**11 + 1),
    "float64": (-(2**24) - 1, -2.25, -0.5, 0.75, 2**24 + 1),
}
"""Wide floats: more digits, or a greater range, than the next narrower dtype has; products of two of ``float32`` and
``float64`` are exact. The parts of complex numbers stay as they are."""

DANGERS: Final = 3
"""Kinds of dangerous data: zeros among numbers that round, then what is no number, then the ends of the range."""

DANGEROUS_DRAWS: Final = 2 * DANGERS
"""How often dangerous data are drawn after the wide ones: each kind twice, so that four elements hold every value of a
kind in one of the two."""


EACH_ONCE: Final = (0, DRAWS, *(DRAWS + WIDE_DRAWS + danger for danger in range(DANGERS)))
"""One draw of each kind. A schedule that is asked for beside another of the same graph, of which all draws were run, is
run on these alone: on a default run of the suite ``schedules`` more than half of the time went into such ones."""


def initial(facts: Facts, seed: int = 0, poison: int = POISON) -> Memory:
    """Return memory with data in every preexisting buffer and ``poison`` in every other byte.

    Draws from ``DRAWS`` on are of wide data, the ones after those of dangerous data. Where means are asked for, those
    that are not dangerous are multiples of the counts, as far as half of the digits allow.
    """
    key = ("initial", seed, poison)
    if key not in facts.kept:
        made = _initial(facts, seed, poison)
        if sum(storage.size for storage in made.values()) > SMALL:
            return Memory(facts, made)
        facts.kept[key] = made
    known = facts.kept[key]
    assert isinstance(known, dict)
    return Memory(facts, {name: storage.copy() for name, storage in known.items()})


def _initial(facts: Facts, seed: int, poison: int) -> dict[str, NDArray[np.uint8]]:
    roots = [buffer for buffer in facts.schedule.buffers if buffer.base is None]
    storages = {buffer.id: np.full(buffer.size, poison, np.uint8) for buffer in roots}
    divided = _divided(facts)
    # The storages last, which hold what their parts show.
    for buffer in sorted(facts.schedule.buffers, key=lambda each: each.base is None):
        if buffer.preexisting:
            root, offset = facts.root(buffer.id)
            draw = _drawn if buffer.size <= SMALL else _drawn.__wrapped__
            drawn = draw(buffer.id, buffer.size, buffer.dtype, seed, divided)
            storages[root][offset : offset + buffer.size] = drawn[: storages[root].size - offset]
    return storages


@lru_cache(maxsize=1024)
def _drawn(name: str, size: int, dtype: str, seed: int, divided: int) -> NDArray[np.uint8]:
    held, most = NUMPY[dtype], 1
    if seed >= DRAWS + WIDE_DRAWS and dtype != "bool":
        again, danger = divmod(seed - DRAWS - WIDE_DRAWS, DANGERS)
        return _dealt(dangerous(dtype)[danger], size // held.itemsize, [danger, *name.encode()], again)
    values: tuple[float, ...] = DATA[kind(dtype)]
    if kind(dtype) in ("float", "complex"):
        most = 2 ** (ml_dtypes.finfo(parts_of(held)).nmant // 2)
        values = NARROW[seed % len(NARROW)] if held.itemsize == 1 else values
    if seed >= DRAWS and kind(dtype) == "integer":
        values = _ends(held)
    elif seed >= DRAWS:
        values = WIDE.get(dtype, values)
    if seed == DRAWS + 1:
        values = tuple(each for each in values if each < 0) or values
    if seed == DRAWS + 2 and kind(dtype) == "integer":
        values = values[-2:]
    # Of small and large numbers together NumPy would make floats.
    among = np.array(values, np.uint64 if dtype == "uint64" else None)
    source, count = np.random.default_rng([seed, *name.encode()]), size // held.itemsize
    drawn = source.choice(among, count) * (divided if divided <= most else 1)
    if kind(dtype) == "complex":
        drawn = drawn + 1j * source.choice(among, count) * (divided if divided <= most else 1)
    return drawn.astype(held).view(np.uint8)


def _ends(dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Return integers from one end of a dtype to the other, without zero; sums of them wrap in every order alike."""
    least, most = (int(end) for end in (ml_dtypes.iinfo(dtype).min, ml_dtypes.iinfo(dtype).max))
    listed = (least, least + 3, -5, -2, -1, 1, 2, 5, 100, most - 3, most)
    return tuple(each for each in listed if least <= each <= most and each)


def _dealt(values: Array, count: int, seed: list[int], again: int) -> NDArray[np.uint8]:
    """Return so many of the values, each as often as the others, in a random order; ``again`` those that come next."""
    source, beyond = np.random.default_rng(seed), count * (again + 1)
    rounds = np.tile(np.arange(len(values)), (-(-beyond // len(values)), 1))
    order: NDArray[np.int64] = source.permuted(rounds, axis=1).reshape(-1)
    return values[order[count * again : beyond]].view(np.uint8)


@lru_cache
def dangerous(dtype: str) -> tuple[Array, ...]:
    """Return the dangerous values of a dtype by draw: with zeros, with what is no number, at the ends of the range.

    Where a dtype has no infinity, or no NaN, it has the greatest number instead.
    """
    held = NUMPY[dtype]
    if kind(dtype) == "integer":
        info = ml_dtypes.iinfo(held)
        least, end = int(info.min), int(info.max)
        own = ([0, 1, least and -1, 2, 3], [0, least, end, least and -1, 1], [*_ends(held), 0])
        return tuple(np.array(values, np.uint64 if dtype == "uint64" else np.int64).astype(held) for values in own)
    part = parts_of(held)
    floats = ml_dtypes.finfo(part)
    one, most = np.ones((), part), np.asarray(floats.max, part)
    after = np.asarray(one + np.asarray(floats.eps, part), part)
    tiny, normal = (np.asarray(each, part) for each in (floats.smallest_subnormal, floats.smallest_normal))
    with np.errstate(all="ignore"):
        infinity, nan = (np.asarray(each, np.float32).astype(part) for each in (np.inf, np.nan))
        tenth = np.asarray(0.1, np.float64).astype(part)
    lists = (
        [one * 0, -(one * 0), one, -one, tiny, -normal, after, one + one],
        [one * 0, infinity, -infinity, nan, one, -(one + one), one + one + one],
        [most, -most, normal, -tiny, after, -(one + one - np.asarray(floats.eps, part)), tenth, one + one + one],
    )
    reals = tuple(np.array(values).astype(part) for values in lists)
    return tuple(_in_the_plane(each, held) for each in reals) if kind(dtype) == "complex" else reals


def _in_the_plane(parts: Array, dtype: np.dtype[Any]) -> Array:
    """Return complex numbers of which each real part has another of these numbers beside it."""
    found = np.empty(parts.shape, dtype)
    # Times the imaginary unit an infinity would be NaN in the real part.
    found.real, found.imag = parts, np.roll(parts, 3)
    return found


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
            # Of nothing there is no mean to divide.
            found[node.id] *= count // (count & -count) if count else 1
    return max(found.values(), default=1)
