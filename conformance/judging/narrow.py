"""The other ways to compute a mean or a premul_sum: where the bound says nothing, trees alone can admit them."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.dtypes import NUMPY, Array
from conformance.judging.column import Column
from conformance.judging.trees import in_any_order, in_rank_order
from conformance.reference.reductions import by_real, quotient

Trees = tuple[Array | None, Array | None]
"""What trees in rank order, and in any order, come to; ``None`` where they are too many to say."""

WIDE: Final = np.dtype(np.float64)
"""Holds the product of any two numbers of up to 24 digits, and the sum of two of the 8-bit formats, exactly."""


def other_ways(terms: Column, totals: Trees) -> list[Trees]:
    """Return the trees of a mean that divides first or takes the inverse of the count, or of a fused factor.

    ``totals`` are the sums of the terms, not divided yet.
    """
    with np.errstate(all="ignore"):
        if terms.op == "premul_sum":
            return [_fused(terms)]
        if terms.op != "mean":
            return []
        count = len(terms.terms)
        firsts = quotient(terms.terms, count), by_real(np.multiply, terms.terms, 1 / count)
        sums = [(in_rank_order(leaves, np.add), in_any_order(leaves, np.add)) for leaves in firsts]
        in_order, in_any = (None if tree is None else by_real(np.multiply, tree, 1 / count) for tree in totals)
        return [*sums, (in_order, in_any)]


def _fused(terms: Column) -> Trees:
    """Return the trees in which the product of a term and the factor is rounded, or exact until something is added."""
    dtype = NUMPY[terms.dtype]
    factor = np.array(terms.factor, dtype).astype(WIDE)

    def leaf(term: Array) -> Array:
        exact = term.astype(WIDE) * factor
        return np.concatenate([exact.astype(dtype).astype(WIDE), exact])

    def add(left: Array, right: Array) -> Array:
        return (left + right).astype(dtype).astype(WIDE)

    found = in_rank_order(terms.terms, add, leaf), in_any_order(terms.terms, add, leaf)
    in_order, in_any = (None if tree is None else tree.astype(dtype) for tree in found)
    return in_order, in_any
