"""How the suite numerics is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import DRAWN, NUMPY, Array, kind
from conformance.generate import choices
from conformance.generate.calls.decisive_values import (
    ADDED,
    ALONE,
    COMPARED,
    COMPLEX_MULTIPLIED,
    INFINITE,
    MULTIPLIED,
    Family,
    Values,
    families,
    sensitive,
    telling_families,
)
from conformance.generate.calls.draft import Draft, Shape, draft
from conformance.generate.calls.vocabulary import call_of
from conformance.generate.operations import CALLS
from conformance.reference.operations import FOLDED, TABLE
from conformance.reference.reductions import ORDER
from conformance.reference.situations import local_word

REALS: Final = tuple(name for name in DRAWN if kind(name) == "float")
FLOATS: Final = tuple(name for name in DRAWN if kind(name) in ("float", "complex"))

GROUPS: Final = ("none", "none", "none", "even", "strided", "unsorted")
"""Kinds of groups that every operation allows; what it rejects is the business of its own domain."""

ANY_GROUPS: Final = (*GROUPS, "uneven")

FACTORS: Final = (0.75, 3.0, 0.5, -1.5, 0.0, -1.0, 1.0)
"""Factors that every format holds: some round what they scale, and 0 makes NaN of an infinity."""

MOST_LOCAL: Final = 32
"""Terms with local axes, at most: up to 33 the bound of every format but the 8-bit ones says something."""

FEW: Final = 8
"""Terms of the 8-bit formats and of products: all trees over so many are gone through."""

OPS: Final = ("sum", "mean", "premul_sum", "product", "max", "min")

_OPS: Final = choices.steered([*["sum", "mean", "product", "product"] * 4, *OPS], ("reduction",), lambda op: (op,))
_CHOSEN: Final = choices.sampled_from([False] * 96 + [True] * 36)
"""Whether elements tell what is chosen about numbers: of 360 drafts that took their families as others do, none or one
told two accumulators of an 8-bit format apart."""
_SUMS: Final = choices.steered(["sum"] * 4 + ["mean", "premul_sum"], ("reduction",), lambda op: (op,))
_REALS: Final = choices.steered(REALS, ("dtype",), lambda dtype: (dtype,))
_DTYPES: Final = choices.steered(("float32", "bfloat16", *FLOATS), ("dtype",), lambda dtype: (dtype,))
_HELD: Final = {"subnormal": "subnormal", "minus_zeros": "negative_zero", "zero_infinite": "infinite"}
"""What families of values are named for."""
_TURNS: Final = choices.sampled_from([0, 1, 2, 3, 5, 7])
_FACTORS: Final = choices.sampled_from(FACTORS)
_LOCAL: Final = choices.steered(
    ["none", "none", "none", "one", "several", "negative"], ("local",), lambda word: (word,)
)
_MANY: Final = choices.sampled_from([(12,), (4, 5), (33,)])
"""Shapes of enough elements for each family of choices to have its turn."""


@dataclass(frozen=True)
class Mixed(Draft):
    """A draft whose elements may take families of values in turn, so that one block shows several clauses."""

    def blocks(self, dtype: str, values: Values, shape: Shape) -> list[Array]:
        """Draw a pool, or for ``mixed`` values where in the pool of its family each element begins."""
        if not isinstance(values, Family):
            return super().blocks(dtype, values, shape)
        if values.name not in ("mixed", "choices"):
            return super().blocks(dtype, self.sized(dtype, values), shape)
        found = (families if values.name == "mixed" else telling_families)(dtype, values.op)
        pools = [self.padded(each, sensitive(dtype, self.sized(dtype, each))) for each in found]
        turn, size = self.draw(_TURNS), math.prod(shape)
        # Each round of the families begins one value later, and so does each rank.
        places = [((e + turn) % len(pools), e // len(pools) + turn) for e in range(size)]
        ranks = [[pools[f][(start + rank) % len(pools[f])] for f, start in places] for rank in range(self.world)]
        return [np.array(rank, NUMPY[dtype]).reshape(shape) for rank in ranks]

    def padded(self, family: Family, pool: Array) -> Array:
        """Return a pool with a zero for each rank that it has no value for, where no value may come twice."""
        missing = self.greatest_group - len(pool) if family.name in (*ALONE, "rung") else 0
        return np.concatenate([pool, np.zeros(max(missing, 0), pool.dtype)])

    def sized(self, dtype: str, family: Family) -> Family:
        """Return a family with how many meet, where its values depend on that."""
        past = family.name == "past" and family.op == "product" and kind(dtype) == "complex"
        if family.name == "barely" or past:
            return family._replace(number=max(self.greatest_group, 2))
        return family


@cache
def _families(op: str, family: str) -> choices.Choice[str]:
    """Return the families of values for a reduction, and ``mixed``, in which several take turns."""
    products = COMPLEX_MULTIPLIED if family == "complex" else (*MULTIPLIED, "zero_infinite", "subnormal", "subnormal")
    sums = ("near", "wide", "large", "subnormal", "subnormal", "minus_zeros", "overflow", *ADDED)
    names = COMPARED if op in ORDER else products if op == "product" else sums
    listed = ["near", *["mixed"] * (len(names) // 2 + 1), *names] if op not in ORDER else ["mixed", *names]
    return choices.steered(listed, ("values",), lambda name: (_HELD.get(name, ""),))


def reducing(drawn: Draft) -> tuple[Draft, dict[str, Attr], Family]:
    """Draw a reduction of floats and the family of its values; return the draft with its dtype, and both."""
    dtype, op = drawn.draw(_DTYPES), drawn.draw(_OPS)
    if drawn.draw(_CHOSEN):
        dtype, op, family = drawn.draw(_REALS), drawn.draw(_SUMS), "choices"
    else:
        dtype = "float32" if kind(dtype) == "complex" and op in ORDER else dtype
        family = drawn.draw(_families(op, kind(dtype)))
    if dtype == "float8_e4m3fn" and family in (*INFINITE, "large", "minus_zeros"):
        family = "overflow"
    attrs: dict[str, Attr] = {"op": op}
    if op == "premul_sum":
        attrs["factor"] = drawn.draw(_FACTORS)
    drawn = Mixed(drawn.draw, drawn.mesh, drawn.axes, drawn.groups, dtype)
    return drawn, attrs, Family("max" if op in ORDER else op if op == "product" else "sum", family)


@cache
def _local_axes(rank: int, fits: tuple[int, ...], shape: Shape, most: int) -> choices.Choice[tuple[int, ...]]:
    """Return one axis that fits, from either end, or two that have few enough elements together."""
    one = [(at,) for at in fits]
    two = [(a, b) for a in fits for b in fits if a != b and shape[a] * shape[b] <= most]
    listed = [*one, *two, *[(at - rank,) for at in fits], *[(a, b - rank) for a, b in two]]
    listed += [each for a, b in two for each in ((a - rank, b), (a - rank, b - rank))]
    return choices.steered(listed, ("local",), lambda axes: (local_word(axes),))


@choices.composite
def folds(draw: choices.Draw, op: str) -> Case:
    """Draw a call of an operation that folds, now and then one that reduces local axes with the named ones."""
    found = reducing(draft(draw, groups=ANY_GROUPS if TABLE[op].groups == "any" else GROUPS))
    drawn, attrs, values = found
    wanted = draw(_MANY) if values.name == "choices" and not TABLE[op].sized else "any"
    drawn, call = call_of(draw, op, drawn.alone, wanted, found) or CALLS[op](draw, replace(drawn, once=True), "whole")
    shape, most = call.operand[0], FEW if "float8" in drawn.dtype or attrs["op"] == "product" else MOST_LOCAL
    attrs = {**call.attrs, **attrs}
    fits = [axis for axis, extent in enumerate(shape) if 0 < extent * drawn.greatest_group <= most]
    if "local_axes" in TABLE[op].attributes and draw(_LOCAL) != "none" and fits:
        attrs["local_axes"] = draw(_local_axes(len(shape), tuple(fits), shape, most // drawn.greatest_group))
    return found[0].case(op, shape=shape, attrs=attrs, values=values)


SUITE: Final = "numerics"

DOMAINS: Final = {op: folds(op) for op in FOLDED}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.5
"""The part of a run's examples that is drawn for each operation of the suite."""
