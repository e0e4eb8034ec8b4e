"""How the domains of reductions choose attributes and data for the drawn dtype and shape."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Final

from conformance.cases.program.feature_words import UNKNOWN_REDUCTION
from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import kind
from conformance.reference.reductions import ARITHMETIC, REDUCTIONS, check
from conformance.reference.rejected import Rejected
from conformance.specs.domains import choose
from conformance.specs.domains.domain import Draft, Shape

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


_RARELY: Final = choose.sampled_from([False] * 15 + [True])
_LOCAL_WRONG: Final = choose.sampled_from([False] * 9 + [True])


def reducing(drawn: Draft) -> tuple[Draft, dict[str, Attr], str]:
    """Draw a reduction, mostly one the dtype has; return the draft, the attributes and the name of the data's pool.

    An eighth of the drafts get another dtype, of the ``NOTABLE`` ones.
    """
    if drawn.draw(choose.sampled_from([False] * 7 + [True])):
        dtype, op = drawn.draw(choose.sampled_from(NOTABLE))
        drawn = replace(drawn, dtype=dtype)
    else:
        op = drawn.draw(_reductions(drawn.dtype, drawn.draw(_RARELY)))
    attrs: dict[str, Attr] = {"op": op}
    if op == "premul_sum":
        attrs["factor"] = drawn.draw(choose.sampled_from([0.5, 2.0, 1.0]))
    if op in ("max", "min") and drawn.draw(choose.sampled_from([False, True])):
        return drawn, attrs, "with_nan"
    return drawn, attrs, op


def local_axes(drawn: Draft, shape: Shape, values: str) -> tuple[tuple[int, ...], str]:
    """Draw the axes of a block to reduce with the named ones, and return the pool that stays exact for them."""
    if drawn.draw(_LOCAL_WRONG):
        return drawn.draw(_local_beyond(len(shape))), values
    return legal_local_axes(drawn, shape, values)


def legal_local_axes(drawn: Draft, shape: Shape, values: str) -> tuple[tuple[int, ...], str]:
    """Draw axes of a block to reduce, the pool that stays exact for them, and no axes where none does.

    ``values`` is the name of the pool, which the reduction's name begins.
    """
    axes, op = drawn.draw(_local_near(len(shape), shape.index(0) if 0 in shape else None)), values
    terms = drawn.greatest_group * math.prod(shape[axis] for axis in axes)
    if op not in ARITHMETIC or kind(drawn.dtype) in ("bool", "integer") or terms <= EXACT_TERMS:
        return axes, values
    narrow = "float8" in drawn.dtype or (op == "product" and kind(drawn.dtype) == "complex")
    return ((), values) if narrow or terms > MOST_TERMS else (axes, "local")


@cache
def accepted(dtype: str) -> list[str]:
    """Return the reductions that a dtype has."""
    found = []
    for op in REDUCTIONS:
        try:
            check(dtype, op)
        except Rejected:
            continue
        found.append(op)
    return found


@cache
def _reductions(dtype: str, wrong: bool) -> choose.Choice[str]:
    """Return the reductions of ``dtype``; or ``wrong`` ones: those it has not, and one that nobody has."""
    right = accepted(dtype)
    if wrong:
        return choose.sampled_from([UNKNOWN_REDUCTION, *(op for op in REDUCTIONS if op not in right)])
    return choose.steered(["sum", *right] if "sum" in right else right, ("reduction",), lambda op: (op,))


@cache
def _local_beyond(rank: int) -> choose.Choice[tuple[int, ...]]:
    """Return axes beyond either end, and axes named twice."""
    return choose.sampled_from([(rank,), (-rank - 1,), *([(0, 0), (0, -rank)] * 2 if rank else [])])


@cache
def _local_near(rank: int, empty: int | None) -> choose.Choice[tuple[int, ...]]:
    """Return mostly no axes, then one or two of ``rank``, often one that is ``empty``."""
    one = [(0,), (-1,), (rank - 1,), (-rank,)] * 2 if rank else []
    two = [(0, 1), (1, 0), (-1, 0)] if rank > 1 else []
    listed = [*[()] * 12, *one, *two, *([(empty,)] * 24 if empty is not None else [])]
    return choose.steered(listed, ("local",), lambda axes: (_local_word(axes),))


def _local_word(axes: tuple[int, ...]) -> str:
    return "negative" if any(axis < 0 for axis in axes) else ("none", "one", "several")[min(len(axes), 2)]
