"""Terms of every float format, and trees over them, drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.judging.numbers.column import Column, column, parts_of
from conformance.reference.reductions import REDUCTIONS, by_real, quotient

REALS = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64")
FACTOR = 0.75


@st.composite
def columns(draw: st.DrawFn, op: str, most: int = 6) -> Column:
    """Draw finite terms: any bits now and then, else numbers near each other, which cancel and tie."""
    dtype = draw(st.sampled_from(REALS if op != "product" else (*REALS, "complex64")))
    numpy = NUMPY[dtype]
    parts = 2 if dtype == "complex64" else 1
    count = parts * draw(st.integers(2, most))
    width = numpy.itemsize // parts
    if draw(st.booleans()):
        bits = draw(st.lists(st.integers(0, 2 ** (8 * width) - 1), min_size=count, max_size=count))
        terms = np.array(bits, f"u{width}").view(numpy)
    else:
        near = st.tuples(st.integers(-15, 15), st.integers(-8, 2)).map(lambda pair: pair[0] * 2.0 ** pair[1])
        reals = np.array(draw(st.lists(near, min_size=count, max_size=count)))
        terms = reals.astype(numpy) if parts == 1 else reals.astype(np.float32).view(numpy)
    with np.errstate(invalid="ignore"):
        terms = np.where(np.isfinite(terms), terms, np.ones(1, numpy)).astype(numpy)
    return column(dtype, op, FACTOR, terms.tobytes())


def tree(data: st.DataObject, leaves: list[Any], join: Any) -> Any:
    """Return leaves joined two by two, in a drawn order, until one is left."""
    while len(leaves) > 1:
        left = leaves.pop(data.draw(st.integers(0, len(leaves) - 1)))
        right = leaves.pop(data.draw(st.integers(0, len(leaves) - 1)))
        leaves.append(join(left, right))
    return leaves[0]


def rounded_tree(data: st.DataObject, terms: Column) -> Array | None:
    """Return what a drawn tree comes to in the terms' own format; ``None`` when something overflows."""
    seen: list[Array] = []

    def join(left: Array, right: Array) -> Array:
        seen.append(REDUCTIONS[terms.op](left, right).astype(left.dtype))
        return seen[-1]

    with np.errstate(all="ignore"):
        leaves = [terms.terms[i : i + 1] for i in range(len(terms.terms))]
        if terms.op == "premul_sum":
            leaves = [by_real(np.multiply, leaf, FACTOR) for leaf in leaves]
        found: Array = tree(data, leaves, join)
        if terms.op == "mean":
            found = quotient(found, len(terms.terms))
    return found if all(np.isfinite(value).all() for value in seen) else None


def error(terms: Column, value: Array) -> tuple[Fraction, Fraction]:
    """Return how far a finite result is from the exact one."""
    ((real, imaginary),) = parts_of(value)
    return abs(Fraction(real) - terms.exact[0]), abs(Fraction(imaginary) - terms.exact[1])
