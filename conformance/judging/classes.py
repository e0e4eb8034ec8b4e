"""The classes of results that an element may have where the order of rounded operations decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal, get_args

import numpy as np

from conformance.cases.dtypes import NUMPY, Array
from conformance.judging.column import Column, column, parts_of
from conformance.judging.complex_product import products
from conformance.judging.narrow import other_ways
from conformance.judging.precision import Real, negative
from conformance.judging.trees import in_any_order, in_known_orders, in_rank_order, one_nan
from conformance.reference.reductions import ORDER, REDUCTIONS, by_real, quotient

Class = Literal["exact", "rank_order_tree", "any_tree", "wide_accumulator", "within_bound"]
CLASSES: Final[tuple[Class, ...]] = get_args(Class)
"""Strongest first. Whatever is exact is a tree in rank order, and that is some tree."""

_EXACT: Final[frozenset[Class]] = frozenset({"exact", "rank_order_tree", "any_tree"})


@lru_cache(maxsize=1 << 16)
def classes_of(dtype: str, op: str, factor: float, content: bytes, result: bytes, *, exact: bool) -> frozenset[Class]:
    """Return the classes that an element's ``result`` belongs to; ``exact`` says that it is the reference's.

    ``content`` are the bytes of the terms in rank order. Where the terms are order-free nothing else is admissible; of
    max and min only the other zero is, where it is there.
    """
    terms, value = column(dtype, op, factor, content), np.frombuffer(result, NUMPY[dtype])
    found: set[Class] = set(_EXACT) if exact else set()
    if op in ORDER:
        return frozenset(found or ({"any_tree"} if _other_zero(terms, value) else ()))
    if terms.order_free:
        return frozenset(found)
    if not exact:
        found |= _trees(terms, value)
    if terms.finite:
        if _wide(terms, value):
            found.add("wide_accumulator")
        if _bounded(terms, value, surely_no_tree="any_tree" not in found and reachable(terms)[1] is not None):
            found.add("within_bound")
    return frozenset(found)


def _other_zero(terms: Column, value: Array) -> bool:
    """Return whether the greatest, or the least, is a zero, and the value one that is among the terms."""
    return zero_wins(terms) and value[0] == 0 and _among(value, terms.terms)


def zero_wins(terms: Column) -> bool:
    """Return whether what max or min comes to is a zero, of either sign."""
    reals = [re for re, _ in terms.parts]
    return not any(map(math.isnan, reals)) and (max if terms.op == "max" else min)(reals) == 0


def closest(found: frozenset[Class]) -> Class | None:
    """Return the strongest of some classes."""
    return next((name for name in CLASSES if name in found), None)


@lru_cache(maxsize=1024)
def reachable(terms: Column) -> tuple[Array | None, Array | None]:
    """Return what trees in rank order, and in any order, come to; ``None`` where they are too many to say."""
    combine = products if terms.complex and terms.op == "product" else REDUCTIONS[terms.op]
    with np.errstate(all="ignore"):
        totals = in_rank_order(leaves(terms), combine), in_any_order(leaves(terms), combine)
        in_order, in_any = (None if tree is None else _ended(terms, tree) for tree in totals)
    others = other_ways(terms, totals) if terms.finite and terms.vacuous else []
    return _joined([in_order, *(other[0] for other in others)]), _joined([in_any, *(other[1] for other in others)])


def _joined(trees: Sequence[Array | None]) -> Array | None:
    """Return what some of several trees come to, or ``None`` where one of them has too many."""
    known = [tree for tree in trees if tree is not None]
    return np.concatenate(known) if len(known) == len(trees) else None


def _trees(terms: Column, value: Array) -> set[Class]:
    """Return the classes of trees that the value is found in."""
    in_order, in_any = reachable(terms)
    if in_order is not None and _among(value, in_order):
        return {"rank_order_tree", "any_tree"}
    if in_any is None:
        with np.errstate(all="ignore"):
            in_any = _ended(terms, in_known_orders(leaves(terms), REDUCTIONS[terms.op]))
    return {"any_tree"} if _among(value, in_any) else set()


def leaves(terms: Column) -> Array:
    """Return what is combined: the terms, scaled where a factor says so."""
    with np.errstate(all="ignore"):
        return by_real(np.multiply, terms.terms, terms.factor) if terms.op == "premul_sum" else terms.terms


def _ended(terms: Column, totals: Array) -> Array:
    return quotient(totals, len(terms.terms)) if terms.op == "mean" else totals


def _among(value: Array, reached: Array) -> bool:
    """Return whether some value reached has the same bits, or is NaN where the value is."""
    width = value.dtype.itemsize
    bits = one_nan(reached).view(np.uint8).reshape(-1, width) == one_nan(value).view(np.uint8)
    return bool(bits.all(axis=1).any())


def _wide(terms: Column, value: Array) -> bool:
    return _sign_fits(terms, value) and all(
        low <= part <= high for part, (low, high) in zip(_parts(terms, value), terms.wide, strict=True)
    )


def _bounded(terms: Column, value: Array, *, surely_no_tree: bool) -> bool:
    """Return whether the value is within the bound, where the bound says something.

    Where it says nothing it counts only if the trees are too many to go through, for want of anything better.
    ``surely_no_tree`` says that they were gone through and that none of them is the value.
    """
    if terms.vacuous and reachable(terms)[1] is not None:
        return False
    for at, (part, exact, far) in enumerate(zip(_parts(terms, value), terms.exact, terms.bound, strict=True)):
        if isinstance(part, Fraction):
            if abs(part - exact) > far:
                return False
        elif not _may_overflow(terms, part) or not (
            _part_reached(terms, at, part) if terms.complex else not surely_no_tree
        ):
            return False
    return _sign_fits(terms, value)


def _part_reached(terms: Column, at: int, infinite: float) -> bool:
    """Return whether some tree has this infinity, or NaN, in one part of a complex product, or may have."""
    trees = reachable(terms)[1]
    if trees is None:
        return True
    parts = (trees.real, trees.imag)[at]
    return bool((np.isnan(parts) if math.isnan(infinite) else parts == infinite).any())


def _may_overflow(terms: Column, infinite: float) -> bool:
    """Return whether some partial result may overflow to what is not finite; NaN where both infinities may meet."""
    growth = (1 + terms.format.unit) ** terms.steps
    if terms.op == "product":
        sizes = [max(abs(re) + abs(im), Fraction(1)) for re, im in terms.numbers]
        return terms.format.rounded(math.prod(sizes) * growth) == math.inf
    ways = [sum((max(sign * re, Fraction(0)) for re, _ in terms.added), start=Fraction(0)) for sign in (1, -1)]
    over = [terms.format.rounded(way * growth) == math.inf for way in ways]
    return all(over) if math.isnan(infinite) else over[0 if infinite > 0 else 1]


def _parts(terms: Column, value: Array) -> tuple[Real, Real]:
    """Return the parts of the value; NaN of a format without infinities is the overflow that it stands for."""
    ((real, imaginary),) = parts_of(value)
    if terms.dtype == "float8_e4m3fn" and isinstance(real, float):
        real = math.inf if terms.exact[0] > 0 else -math.inf
    return real, imaginary


def _sign_fits(terms: Column, value: Array) -> bool:
    """Return whether a real result has a sign that rounding leaves: that of its factors, or, a zero sum, that of zero.

    Only where all terms are -0.0 is their sum; but what is less than zero may underflow to it where it is scaled or
    divided.
    """
    if terms.complex:
        return _zeros_reached(terms, value)
    if np.isnan(value[0]):
        return True
    if terms.op == "product":
        return negative(value[0]) == terms.negative
    if value[0] != 0 or not negative(value[0]):
        return True
    underflows = terms.op != "sum" and terms.exact[0] < terms.bound[0]
    return underflows or all(negative(number) for number in terms.terms)


def _zeros_reached(terms: Column, value: Array) -> bool:
    """Return whether a part of a complex product that is zero, and is not for rounding, has a sign some tree has."""
    trees = reachable(terms)[1]
    if trees is None or not terms.grained:
        return True
    pairs = ((value.real[0], trees.real), (value.imag[0], trees.imag))
    return all(
        bool((np.signbit(parts[parts == 0]) == np.signbit(part)).any())
        for part, parts in pairs
        if part == 0 and (parts == 0).any()
    )
