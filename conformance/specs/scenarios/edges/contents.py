"""Contents of blocks that tell every element, rank and member apart, or break what folds them."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, RARE, Array, kind
from conformance.specs.domains.values import pool
from conformance.specs.scenarios.edges.listing import Edge

BIG: Final = (2**24 + 1, 2**31 - 1, 2**53 + 1, 2**62 + 2**9 + 1, 2**63 + 2**10 + 1)
"""Integers that no float32, no signed integer and no float64 holds."""

FEW: Final = 5
"""Members, of which the square is no more than 25 rows."""


def counted(dtype: str, shape: tuple[int, ...], rank: int, more: int = 0) -> Array:
    """Return a block of which neighbours, ranks and the blocks of another ``more`` differ.

    Integers are all bit patterns; sums of floats stay exact over 64 terms, and there is no zero among them.
    """
    size = int(np.prod(shape))
    count = np.arange(size, dtype=np.uint64) + np.uint64(rank * (size + 1) + more * 37)
    held = NUMPY[dtype]
    if dtype in RARE:
        values = pool(dtype, "max")
        return values[(count * np.uint64(3) % np.uint64(len(values))).astype(np.int64)].reshape(shape)
    if kind(dtype) == "bool":
        return np.asarray((count * np.uint64(5) + np.uint64(rank)) % np.uint64(7) < 3).reshape(shape)
    if kind(dtype) == "integer":
        with np.errstate(over="ignore"):
            mixed = (count + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        width = np.uint64(8 * held.itemsize)
        # The high bits are the mixed ones; ml_dtypes makes narrow integers of small ones alone.
        high = (mixed >> (np.uint64(64) - width)).astype(f"u{held.itemsize}")
        found = high if held.kind == "u" else high.view(held) if held.kind == "i" else (high % 8).astype(np.int8)
        return np.asarray(found.astype(held)).reshape(shape)
    numbers = (count * np.uint64(3) + np.uint64(rank)).astype(np.int64) % 4 + 1
    signed = numbers * np.where(count.astype(np.int64) % 3 == 1, -1, 1)
    return np.asarray(signed.astype(np.float64).astype(held)).reshape(shape)


def square(e: Edge, more: int = 0, rows: int = 2) -> list[Array]:
    """Return blocks that every operation can cut: ``rows`` times the members by as many as there are members."""
    return [counted(e.dtype, (rows * e.size, e.size), rank, more) for rank in range(e.world)]


def divisible(e: Edge, more: int = 0) -> list[Array]:
    """Return blocks that can be cut twice, along either axis where there are few members, for operations that cut."""
    if more % 2 or e.op not in ("all_to_all", "reduce_scatter", "scatter"):
        return square(e, more)
    shape = (e.size**2, e.size**2 if e.size <= FEW else e.size)
    return [counted(e.dtype, shape, rank, more) for rank in range(e.world)]


@cache
def specials(dtype: str) -> tuple[Any, ...]:
    """Return the values that folds treat in their own way, in the dtype."""
    held = NUMPY[dtype]
    if kind(dtype) == "bool":
        return (True, False)
    if kind(dtype) == "integer":
        info = ml_dtypes.iinfo(held)
        least, most = int(info.min), int(info.max)
        ends = [most, least, most - 1, most // 2 + 1, 1, 0, max(least, -1), *(each for each in BIG if each <= most)]
        return tuple(dict.fromkeys(ends))
    real = np.dtype(f"f{held.itemsize // 2}") if held.kind == "c" else held
    form = ml_dtypes.finfo(real)
    found = [np.nan, np.inf, -np.inf, -0.0, 0.0, float(form.max), -float(form.max)]
    found += [float(form.smallest_subnormal), float(form.smallest_normal), 1 + float(form.eps), float(form.eps) / 4]
    if not np.isinf(np.array(np.inf).astype(real)):
        found = [each for each in found if not np.isinf(each)]
    return (*found, complex(0.0, -1.0)) if held.kind == "c" else tuple(found)


BESIDE: Final = {"bool": (False, True), "integer": (0, 1, 3), "float": (1.0, 0.0, -1.5), "complex": (1.0, 0.0)}
"""What all others hold where one member holds what is special."""


def alone(e: Edge, dtype: str | None = None) -> list[Array]:
    """Return blocks of columns in which one member alone holds what is special, and of two members beside each other.

    Each member has each special value in turn; over a turn of programs other values stand beside them.
    """
    dtype = dtype or e.dtype
    beside, found = BESIDE[kind(dtype)], specials(dtype)
    base = beside[e.turn % len(beside)]
    columns = []
    for value, at in product(found, range(e.most)):
        columns.append([value if at == member else base for member in range(e.most)])
    for number, at in product(range(len(found)), range(e.most - 1)):
        # Beside it its like, what is listed after it, or another one each turn.
        pair = {at: found[number], at + 1: found[(number + (0, 1, e.turn)[(number + at) % 3]) % len(found)]}
        columns.append([pair.get(member, base) for member in range(e.most)])
    columns += [[value] * e.most for value in found]
    width = -(-len(columns) // e.size) * e.size
    columns += columns[: width - len(columns)]
    return by_member(e, np.array(columns, object), dtype)


def by_member(e: Edge, columns: Array, dtype: str) -> list[Array]:
    """Return a block for each rank from columns with a value for each member of the greatest group."""
    held = NUMPY[dtype]
    with np.errstate(all="ignore"):
        flat = np.array([held.type(each) for each in columns.reshape(-1)], held).reshape(columns.shape)
    blocks = [np.ascontiguousarray(flat[:, 0])] * e.world
    for group in e.groups:
        for member, rank in enumerate(group):
            blocks[rank] = np.ascontiguousarray(flat[:, member])
    return blocks
