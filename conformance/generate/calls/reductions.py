"""How the domains of reductions choose attributes and data for the drawn dtype and shape."""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import ml_dtypes

from conformance.cases.program.feature_words import UNKNOWN_REDUCTION
from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.generate import choices
from conformance.generate.calls.draft import Draft, Shape
from conformance.generate.calls.mistakes import wrong
from conformance.reference.reductions import ARITHMETIC, REDUCTIONS, check
from conformance.reference.rejection import Rejected
from conformance.reference.situations import local_word

EXACT_TERMS: Final = 8
"""Blocks that every pool of a reduction stays exact for; the pool ``local`` does for ``MOST_TERMS``."""

MOST_TERMS: Final = 200

FINE: Final = {"float16": 1 + 2.0**-4, "float32": 1 + 2.0**-15, "float64": 1 + 2.0**-40}
"""Factors that no narrower format holds. What they scale sums up exactly, eight terms up to 8 or 200 of one."""

_RARELY: Final = wrong("reduction", [False] * 15, [True])
_LOCAL_WRONG: Final = wrong("local", [False] * 9, [True])


def reducing(drawn: Draft) -> tuple[Draft, dict[str, Attr], str]:
    """Draw a reduction, mostly one the dtype has; return the draft, the attributes and the name of the data's pool."""
    op = drawn.draw(_reductions(drawn.dtype, drawn.draw(_RARELY)))
    attrs: dict[str, Attr] = {"op": op}
    if op == "premul_sum":
        attrs["factor"] = drawn.draw(factors(drawn.dtype))
    if op in ("max", "min") and drawn.draw(choices.sampled_from([False, True, True])):
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
def factors(dtype: str) -> choices.Choice[float]:
    """Return factors by which the values of a pool stay exact: 0, 1, -1, and powers of two, also the ends of a dtype's.

    A dtype that has no factor, as booleans, may be asked for one all the same, which is refused.
    """
    found = [0.5, 2.0, 1.0, -1.0, 0.0]
    if kind(dtype) in ("float", "complex"):
        form = ml_dtypes.finfo(NUMPY[dtype])
        if dtype in FINE:
            found.append(FINE[dtype])
        # Eight terms of at most 8 come to 64, in the narrowest format of at most 4 to 32.
        found += [2.0 ** (math.frexp(float(form.max))[1] - 7 + ("float8" in dtype)), float(form.smallest_normal)]
    return choices.sampled_from(found)


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
def _reductions(dtype: str, wrong: bool) -> choices.Choice[str]:
    """Return the reductions of ``dtype``; or ``wrong`` ones: those it has not, and one that nobody has."""
    right = accepted(dtype)
    if wrong:
        return choices.sampled_from([UNKNOWN_REDUCTION, *(op for op in REDUCTIONS if op not in right)])
    return choices.steered(["sum", *right] if "sum" in right else right, ("reduction",), lambda op: (op,))


@cache
def _local_beyond(rank: int) -> choices.Choice[tuple[int, ...]]:
    """Return axes beyond either end, and axes named twice."""
    return choices.sampled_from([(rank,), (-rank - 1,), *([(0, 0), (0, -rank)] * 2 if rank else [])])


@cache
def _local_near(rank: int, empty: int | None) -> choices.Choice[tuple[int, ...]]:
    """Return mostly no axes, then one or two of ``rank``, often one that is ``empty``."""
    one = [(0,), (-1,), (rank - 1,), (-rank,)] * 2 if rank else []
    named = [(at, axis) for at in range(rank) for axis in (at, at - rank)]
    two: list[tuple[int, ...]] = [(a, b) for at, a in named for other, b in named if at != other]
    two += [(0, 1, 2), (2, -3, 1), (-1, 0, 1)] if rank > 2 else []
    listed = [*[()] * (8 + len(one) + len(two)), *one, *two, *([(empty,)] * 24 if empty is not None else [])]
    return choices.steered(listed, ("local",), lambda axes: (local_word(axes),))
