"""How the domains of reductions choose attributes and data for the drawn dtype and shape."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Final

from conformance.cases.dtypes import kind
from conformance.cases.feature_words import UNKNOWN_REDUCTION
from conformance.cases.program import Attr
from conformance.reference.reductions import ARITHMETIC, REDUCTIONS, check
from conformance.reference.rejected import Rejected
from conformance.specs import choose
from conformance.specs.domain import Draft, Shape

EXACT_TERMS: Final = 8
"""Blocks that every pool of a reduction stays exact for; the pool ``local`` does for ``MOST_TERMS``."""

MOST_TERMS: Final = 200

NOTABLE: Final = (
    *(("float32", "sum"), ("float64", "sum"), ("float32", "max"), ("float32", "min"), ("float16", "mean")),
    *(("bfloat16", "premul_sum"), ("bfloat16", "mean"), ("bool", "sum"), ("bool", "max"), ("bool", "min")),
    *(("complex64", "product"), ("int32", "premul_sum"), ("complex64", "min")),
)
"""What some clause or some known mistake is about alone. Of 800 cases of three reductions, 0 to 3 were any one of these
with dtype and reduction drawn apart."""


def reducing(drawn: Draft) -> tuple[Draft, dict[str, Attr], str]:
    """Draw a reduction, mostly one the dtype has; return the draft, the attributes and the name of the data's pool.

    A quarter of the drafts get another dtype, of the ``NOTABLE`` ones.
    """
    if drawn.draw(choose.sampled_from([False, False, False, True])):
        dtype, op = drawn.draw(choose.sampled_from(NOTABLE))
        drawn = replace(drawn, dtype=dtype)
    else:
        op = drawn.draw(_reduction_of(drawn.dtype))
    attrs: dict[str, Attr] = {"op": op}
    if op == "premul_sum":
        attrs["factor"] = drawn.draw(choose.sampled_from([0.5, 2.0, 1.0]))
    if op in ("max", "min") and drawn.draw(choose.sampled_from([False, True])):
        return drawn, attrs, "with_nan"
    return drawn, attrs, op


def local_axes(drawn: Draft, shape: Shape, op: str, values: str) -> tuple[tuple[int, ...], str]:
    """Draw the axes of a block to reduce with the named ones, and return the pool that stays exact for them."""
    axes = drawn.draw(_local_near(len(shape), shape.index(0) if 0 in shape else None))
    rank = len(shape)
    if (
        not axes
        or len({axis % max(rank, 1) for axis in axes}) < len(axes)
        or not all(-rank <= axis < rank for axis in axes)
    ):
        return axes, values
    terms = drawn.greatest_group * math.prod(shape[axis] for axis in axes)
    if op not in ARITHMETIC or kind(drawn.dtype) in ("bool", "integer") or terms <= EXACT_TERMS:
        return axes, values
    narrow = "float8" in drawn.dtype or (op == "product" and kind(drawn.dtype) == "complex")
    return ((), values) if narrow or terms > MOST_TERMS else (axes, "local")


@cache
def _reduction_of(dtype: str) -> choose.Choice[str]:
    """Return the reductions of ``dtype`` and, now and then, those it has not."""
    accepted, refused = [], []
    for op in REDUCTIONS:
        try:
            check(dtype, op)
            accepted.append(op)
        except Rejected:
            refused.append(op)
    return choose.sampled_from([*accepted * 4, *refused, UNKNOWN_REDUCTION, UNKNOWN_REDUCTION, *["sum"] * 4])


def _local_near(rank: int, empty: int | None) -> choose.Choice[tuple[int, ...]]:
    """Return mostly no axes, then one or two of ``rank``, and now and then one twice, beyond or ``empty``."""
    one = [(0,), (-1,), (rank - 1,), (-rank,)] * 2 if rank else []
    two = [(0, 1), (1, 0), (-1, 0)] if rank > 1 else []
    wrong = ([(0, 0), (0, -rank)] if rank else []) + ([(empty,)] * 24 if empty is not None else [])
    return choose.sampled_from([*[()] * 12, *one, *two, *wrong, (rank,), (-rank - 1,), ()])
