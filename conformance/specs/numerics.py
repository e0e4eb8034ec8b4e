"""The suite of numbers: reductions whose order of operations, or whose special values, decide the result."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from hypothesis import strategies as st

from conformance.cases.case import Case
from conformance.cases.dtypes import NUMPY, Array, kind
from conformance.cases.program import Attr
from conformance.judging.clause import Clause
from conformance.judging.quotient import divided
from conformance.specs import numeric_facts as facts
from conformance.specs.domain import SMALL, Draft, Shape, axis_near, draft, root_near, splittable
from conformance.specs.numeric_facts import ADDING, some
from conformance.specs.op import value
from conformance.specs.sensitive import ADDED, FLUSHED, GRADUAL, INFINITE, MULTIPLIED, families, sensitive
from conformance.specs.suite import Suite

FLOATS: Final = tuple(name for name in NUMPY if kind(name) in ("float", "complex"))
REALS: Final = tuple(name for name in FLOATS if kind(name) == "float")

GROUPS: Final = ("none", "none", "none", "even", "strided", "unsorted")
"""Kinds of groups that every operation allows; what it rejects is the business of its own domain."""

FACTORS: Final = (0.75, 3.0, 0.5, -1.5)
"""Factors that every format holds and that round what they scale."""

MOST_LOCAL: Final = 32
"""Terms with local axes, at most: up to 33 the bound of every format but the 8-bit ones says something."""

FEW: Final = 8
"""Terms of the 8-bit formats and of products: all trees over so many are gone through."""

_OPS: Final = st.sampled_from(["sum", "mean", "premul_sum", "product", "sum", "product", "mean"])
_DTYPES: Final = st.sampled_from(("float32", "bfloat16", *FLOATS, "float64", "float8_e4m3fn"))
_ADDED: Final = st.sampled_from(
    ["near", "mixed", "wide", "mixed", *["subnormal"] * 3, "minus_zeros", "overflow", "mixed", *ADDED, *["mixed"] * 3]
)
_AVERAGED: Final = st.sampled_from([*["near", "wide"] * 4, *["large"] * 3, *["mixed"] * 4, *ADDED])
_MULTIPLIED: Final = st.sampled_from(["near", *["mixed"] * 5, "subnormal", "subnormal", *MULTIPLIED])
_TURNS: Final = st.sampled_from([0, 1, 2, 3, 5, 7])
_FACTORS: Final = st.sampled_from(FACTORS)
_LOCAL: Final[st.SearchStrategy[bool]] = st.sampled_from([False, False, True])
_LONG: Final = st.sampled_from([(3,), (5,), (2, 3), (33,)])
SHAPES: Final[st.SearchStrategy[Shape]] = st.one_of(SMALL, _LONG)


@dataclass(frozen=True)
class Mixed(Draft):
    """A draft whose elements may take families of values in turn, so that one block shows several clauses."""

    def blocks(self, dtype: str, values: str, shape: Shape) -> list[Array]:
        """Draw a pool, or for ``mixed`` values where in the pool of its family each element begins."""
        op, _, family = values.partition(" ")
        if family != "mixed":
            return super().blocks(dtype, values, shape)
        pools = [sensitive(dtype, f"{op} {name}") for name in families(dtype, op)]
        turn, size = self.draw(_TURNS), math.prod(shape)
        # Each round of the families begins one value later, and so does each rank.
        places = [((e + turn) % len(pools), e // len(pools) + turn) for e in range(size)]
        ranks = [[pools[f][(start + rank) % len(pools[f])] for f, start in places] for rank in range(self.world)]
        return [np.array(rank, NUMPY[dtype]).reshape(shape) for rank in ranks]


def reducing(drawn: Draft) -> tuple[Draft, dict[str, Attr], str]:
    """Draw a reduction of floats and the family of its values; return the draft with its dtype, and both."""
    dtype, op = drawn.draw(_DTYPES), drawn.draw(_OPS)
    if op == "product":
        family = drawn.draw(_MULTIPLIED)
        family = "near" if kind(dtype) == "complex" else family
    else:
        family = drawn.draw(_AVERAGED if op == "mean" else _ADDED)
    if dtype == "float8_e4m3fn" and family in INFINITE:
        family = "overflow"
    attrs: dict[str, Attr] = {"op": op}
    if op == "premul_sum":
        attrs["factor"] = drawn.draw(_FACTORS)
    drawn = Mixed(drawn.draw, drawn.mesh, drawn.axes, drawn.groups, dtype)
    return drawn, attrs, f"product {family}" if op == "product" else f"sum {family}"


@st.composite
def all_reduces(draw: st.DrawFn) -> Case:
    """Draw an all_reduce, now and then one that reduces local axes with the named ones."""
    drawn, attrs, values = reducing(draft(draw, groups=GROUPS))
    shape = draw(SHAPES)
    most = FEW if "float8" in drawn.dtype or attrs["op"] == "product" else MOST_LOCAL
    fits = [axis for axis, extent in enumerate(shape) if 0 < extent * drawn.greatest_group <= most]
    if draw(_LOCAL) and fits:
        attrs["local_axes"] = (fits[0],)
    return drawn.case("all_reduce", shape=shape, attrs=attrs, values=values)


@st.composite
def reduces(draw: st.DrawFn) -> Case:
    """Draw a reduce."""
    drawn, attrs, values = reducing(draft(draw, groups=GROUPS))
    attrs["root"] = draw(root_near(drawn.group_size))
    return drawn.case("reduce", shape=draw(SHAPES), attrs=attrs, values=values)


@st.composite
def reduce_scatters(draw: st.DrawFn) -> Case:
    """Draw a reduce_scatter."""
    drawn, attrs, values = reducing(draft(draw, groups=GROUPS))
    tiled = draw(st.booleans())
    shape, at = splittable(draw, drawn.group_size, tiled)
    attrs |= {"axis": draw(axis_near(len(shape), prefer=at)), "tiled": tiled}
    return drawn.case("reduce_scatter", shape=shape, attrs=attrs, values=values)


CLAUSES: Final[tuple[Clause, ...]] = (
    value(
        "numerics.C1",
        "Where partial results round, a sum is that of a tree of its terms, of a wider accumulator, or in the bound.",
        "001",
        some(facts.order_sensitive, "sum"),
    ),
    value(
        "numerics.C2",
        "Where partial results round, a mean divides such a sum, or adds quotients within the bound.",
        "001",
        some(facts.order_sensitive, "mean"),
    ),
    value(
        "numerics.C3",
        "Where partial results round, a premul_sum adds terms times the factor, each rounded or fused, like a sum.",
        "002",
        some(facts.order_sensitive, "premul_sum"),
    ),
    value(
        "numerics.C4",
        "Where partial results round, a product is that of some tree, of a wider accumulator, or in the bound.",
        "002",
        some(facts.order_sensitive, "product"),
    ),
    value(
        "numerics.C5",
        "A NaN among the terms makes the element NaN, and no other element.",
        "IEEE 754",
        some(facts.has_nan, *ADDING, "product"),
    ),
    value(
        "numerics.C6",
        "A sum of nothing but -0.0 is -0.0, as it is without a start at +0.0.",
        "IEEE 754",
        some(facts.all_minus_zero, "sum", "mean"),
        "should",
    ),
    value(
        "numerics.C7",
        "Terms that cancel, and zeros of both signs, add up to +0.0.",
        "IEEE 754",
        some(facts.cancels, *ADDING),
    ),
    value(
        "numerics.C8",
        "An infinity among the terms of a sum, without the opposite one, is the sum.",
        "IEEE 754",
        some(facts.one_infinity, *ADDING),
    ),
    value(
        "numerics.C9",
        "Infinities of both signs add up to NaN.",
        "IEEE 754",
        some(facts.both_infinities, *ADDING),
    ),
    value(
        "numerics.C10",
        "A product with an infinity is NaN where a factor is zero, else the infinity with the sign of the factors.",
        "IEEE 754",
        some(facts.has_infinity, "product"),
    ),
    value(
        "numerics.C11",
        "A product with a zero is a zero with the sign of the factors.",
        "IEEE 754",
        some(facts.has_zero, "product"),
    ),
    value(
        "numerics.C12",
        "Subnormal numbers of the 8-bit formats, float64 and complex128 are kept, as terms and as results.",
        "IEEE 754",
        some(facts.subnormal, *ADDING, "product", dtypes=GRADUAL),
    ),
    value(
        "numerics.C13",
        "Subnormal numbers of float16, bfloat16, float32 and complex64 are kept, as terms and as results.",
        "IEEE 754",
        some(facts.subnormal, *ADDING, "product", dtypes=FLUSHED),
        "should",
    ),
    value(
        "numerics.C14",
        "What every order of the terms takes past the greatest finite number is an infinity.",
        "IEEE 754",
        some(facts.overflows, "sum", "premul_sum", "product", dtypes=[d for d in REALS if d != "float8_e4m3fn"]),
    ),
    value(
        "numerics.C15",
        "In float8_e4m3fn, which has no infinity, it is NaN.",
        "OCP OFP8",
        some(facts.overflows, "sum", "premul_sum", "product", dtypes=("float8_e4m3fn",)),
        "should",
    ),
    Clause(
        "numerics.C16",
        "must",
        "By a count that is no power of two, a mean is within 2 units in the last place of a right sum's quotient.",
        lambda s: s.legal and some(facts.inexact_quotient, "mean")(s),
        divided,
        "001",
    ),
    value(
        "numerics.C17",
        "Where some orders of the terms overflow and others do not, the element is what one or a wider one comes to.",
        "IEEE 754",
        some(facts.order_overflows, *ADDING, "product"),
    ),
    value(
        "numerics.C18",
        "What is past the greatest float16 and no order takes past the greatest number of its own dtype is finite.",
        "IEEE 754",
        some(facts.large, *ADDING),
    ),
    value(
        "numerics.C19",
        "The count and the factor are real: an infinity in one part of a complex number leaves the other part alone.",
        "C11 G.5.1",
        facts.scales_infinity,
        "should",
    ),
)

SUITE: Final = Suite(
    "numerics",
    "Results that depend on the order of operations, and special values.",
    domains={"all_reduce": all_reduces(), "reduce": reduces(), "reduce_scatter": reduce_scatters()},
    clauses=tuple(replace(clause, suite="numerics") for clause in CLAUSES),
    share=1 / 3,
)
