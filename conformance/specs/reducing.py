"""How the domains of reductions choose attributes and data for the drawn dtype and shape."""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from hypothesis import strategies as st

from conformance.cases.dtypes import kind
from conformance.cases.program import Attr
from conformance.reference.reductions import ARITHMETIC, REDUCTIONS, check
from conformance.reference.rejected import Rejected
from conformance.specs.domain import Draft, Shape

EXACT_TERMS: Final = 8
"""Blocks that every pool of a reduction stays exact for; the pool ``local`` does for ``MOST_TERMS``."""

MOST_TERMS: Final = 200

OFTEN: Final = {
    "bool": ("max", "min", "sum"),
    "integer": ("mean",),
    "float": ("mean", "max", "min", "premul_sum"),
    "complex": ("product",),
}
"""Reductions to draw twice as often, since a clause or a known mistake is about them and these dtypes alone."""


def reducing(drawn: Draft) -> tuple[dict[str, Attr], str]:
    """Draw a reduction, mostly one the dtype has; return its attributes and the name of the pool its data comes from."""
    op = drawn.draw(_reduction_of(drawn.dtype))
    attrs: dict[str, Attr] = {"op": op}
    if op == "premul_sum":
        attrs["factor"] = drawn.draw(st.sampled_from([0.5, 2.0, 1.0]))
    if op == "product" and kind(drawn.dtype) == "complex" and drawn.greatest_group <= 2:
        return attrs, "product_of_two"
    if op in ("max", "min") and drawn.draw(st.sampled_from([False, True])):
        return attrs, "with_nan"
    return attrs, op


def local_axes(drawn: Draft, shape: Shape, op: str, values: str) -> tuple[tuple[int, ...], str]:
    """Draw the axes of a block to reduce with the named ones, and return the pool that stays exact for them."""
    axes = drawn.draw(_local_near(len(shape), shape.index(0) if 0 in shape else None))
    rank = len(shape)
    if not axes or len({axis % max(rank, 1) for axis in axes}) < len(axes) or not all(-rank <= axis < rank for axis in axes):
        return axes, values
    terms = drawn.greatest_group * math.prod(shape[axis] for axis in axes)
    if op not in ARITHMETIC or kind(drawn.dtype) in ("bool", "integer") or terms <= EXACT_TERMS:
        return axes, "product" if values == "product_of_two" and terms > 2 else values
    narrow = "float8" in drawn.dtype or (op == "product" and kind(drawn.dtype) == "complex")
    return ((), values) if narrow or terms > MOST_TERMS else (axes, "local")


@cache
def _reduction_of(dtype: str) -> st.SearchStrategy[str]:
    """Return the reductions of ``dtype`` and, now and then, those it has not."""
    accepted, refused = [], []
    for op in REDUCTIONS:
        try:
            check(dtype, op)
            accepted.append(op)
        except Rejected:
            refused.append(op)
    return st.sampled_from([*accepted * 4, *OFTEN[kind(dtype)] * 4, *refused * 2, "median", *["sum"] * 4])


def _local_near(rank: int, empty: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Return mostly no axes, then one or two of ``rank``, and now and then one twice, one just beyond or the ``empty`` one."""
    one = [(0,), (-1,), (rank - 1,), (-rank,)] * 2 if rank else []
    two = [(0, 1), (1, 0), (-1, 0)] if rank > 1 else []
    wrong = ([(0, 0), (0, -rank)] if rank else []) + ([(empty,)] * 4 if empty is not None else [])
    return st.sampled_from([*[()] * 12, *one, *two, *wrong, (rank,), (-rank - 1,), ()])
