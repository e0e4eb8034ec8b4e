"""How the domains of reductions choose attributes and data for the drawn dtype and shape."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Final, cast

import ml_dtypes

from conformance.cases.program.feature_words import UNKNOWN_REDUCTION
from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.generate import choices
from conformance.generate.calls.decisive_values import Family, Values
from conformance.generate.calls.draft import Draft, Shape
from conformance.generate.calls.mistakes import accepted, wrong
from conformance.judging.numbers.facts import GRADUAL
from conformance.reference.operations import FOLDED
from conformance.reference.reductions import ARITHMETIC, REDUCTIONS
from conformance.reference.situations import local_word

EXACT_TERMS: Final = 8
"""Blocks that every pool of a reduction stays exact for; the pool ``local`` does for ``MOST_TERMS``."""

MOST_TERMS: Final = 200

FINE: Final = {"float16": 1 + 2.0**-4, "float32": 1 + 2.0**-15, "float64": 1 + 2.0**-40}
"""Factors that no narrower format holds. What they scale sums up exactly, eight terms up to 8 or 200 of one."""

REPEATED: Final = {
    "bool": ("or", "max", "xor", "and", "min"),
    "integer": ("sum", "max", "sum", "xor", "sum", "min", "product"),
    "float": ("max", "min"),
}
"""What may be applied again and again and stays exact; complex numbers become int32. Most change nothing the second
time, which hides what happened once too often or not at all: sums do."""

_REPEATED: Final = {
    family: choices.steered(names, ("reduction",), lambda op: (op,)) for family, names in REPEATED.items()
}
_POSITIONS: Final = choices.steered(["max", "min"], ("reduction",), lambda op: (op,))
_WRONG_POSITIONS: Final = wrong("reduction", ["max", "min"] * 4, ["sum"])
_WRONG: Final = wrong("reduction", [False] * 15, [True])
_LOCAL_WRONG: Final = wrong("local", [False] * 9, [True])


Reduction = tuple[Draft, dict[str, Attr], Values]
"""A draft with a dtype that is fit, the attributes of a reduction, and the pool of its data."""


def reduction(draw: choices.Draw, drawn: Draft, op: str, *, there: bool = False) -> Reduction | None:
    """Draw a reduction that an operation may have, mostly one the dtype has; ``None`` where it has none that is fit.

    Where results are reduced again, or operands are ``there`` already, it is one that stays exact however often.
    """
    family = kind(drawn.dtype)
    if there and family not in ("bool", "integer"):
        return None
    if op not in FOLDED:
        return _position(draw, drawn)
    if not drawn.once and not drawn.lone:
        drawn = replace(drawn, dtype="int32") if family == "complex" else drawn
        word = draw(_REPEATED[kind(drawn.dtype)])
        return drawn, {"op": word}, word
    word = draw(_reductions(drawn.dtype, draw(_WRONG)))
    attrs: dict[str, Attr] = {"op": word, **({"factor": draw(factors(drawn.dtype))} if word == "premul_sum" else {})}
    nan = drawn.lone and word in ("max", "min") and draw(choices.sampled_from([False, True, True]))
    return drawn, attrs, "with_nan" if nan else word


def _position(draw: choices.Draw, drawn: Draft) -> Reduction:
    """Draw what is sought where the result is the position of an extreme: of values with ties, NaN and both zeros."""
    if not drawn.lone:
        # Over no axis nothing is compared.
        drawn = replace(drawn, dtype="int32") if kind(drawn.dtype) == "complex" and drawn.axes else drawn
        word = draw(_POSITIONS)
        return drawn, {"op": word}, word
    word, values = draw(_WRONG_POSITIONS), cast("Values", "max")
    if word != "sum":
        # What is special is so of floats alone.
        values = draw(_special(word)) if kind(drawn.dtype) == "float" else word
    if values == "subnormal":
        values = Family("max", "subnormal") if drawn.dtype in GRADUAL else word
    return drawn, {"op": word}, values


@cache
def _special(op: str) -> choices.Choice[str]:
    words = {"with_nan": "nan", "subnormal": "subnormal"}
    found = [op, *[f"{op}_zeros"] * 3, "with_nan", "subnormal"]
    return choices.steered(found, ("values",), lambda name: (words.get(name, ""),))


def local_axes(draw: choices.Draw, drawn: Draft, shape: Shape, values: str) -> tuple[tuple[int, ...], str]:
    """Draw axes of a block to reduce with the named ones, the pool that stays exact for them, and none where none does.

    ``values`` is the name of the pool, which the reduction's name begins. Now and then they are beyond the block's.
    """
    if draw(_LOCAL_WRONG):
        return draw(_local_beyond(len(shape))), values
    axes, op = draw(_local_near(len(shape), shape.index(0) if 0 in shape else None)), values
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
def _reductions(dtype: str, wrong: bool) -> choices.Choice[str]:
    """Return the reductions of ``dtype``; or ``wrong`` ones: those it has not, and one that nobody has."""
    right = accepted(dtype)
    if wrong:
        found = [UNKNOWN_REDUCTION, *(op for op in REDUCTIONS if op not in right)]
        return choices.steered(found, ("reduction",), lambda op: (op,))
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
