"""The classes of results that an element may have where the order of rounded operations decides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np

from conformance.cases.declarations.number_model import BEYOND, DEFAULT, Words, word_of
from conformance.cases.tensor.dtypes import NUMPY, Array, infinite
from conformance.judging.numbers import fused_sums, not_finite
from conformance.judging.numbers.column import MOST_COLUMNS, Column, column, parts_of, remembered
from conformance.judging.numbers.exact_sums import beyond, compensated
from conformance.judging.numbers.formats import flushed, subnormal
from conformance.judging.numbers.model_operations import HAS_EXTENDED, ReductionArithmetic, carried
from conformance.judging.numbers.precision import Real, negative
from conformance.judging.numbers.sum_interval import sum_interval
from conformance.judging.numbers.trees import in_any_order, in_known_orders, in_rank_order, one_nan
from conformance.reference.reductions import ORDER

Class = Literal["exact", "rank_order_tree", "any_tree", "wide_accumulator", "number_model", "within_bound"]
CLASSES: Final[tuple[Class, ...]] = get_args(Class)
"""Strongest first. Whatever is exact is a tree in rank order, and that is some tree."""

_EXACT: Final[frozenset[Class]] = frozenset({"exact", "rank_order_tree", "any_tree"})

_WIDER: Final = frozenset({"accumulate", "between"})
"""The kinds of words that say in which formats partial results are."""


@remembered(16 * MOST_COLUMNS)
def classes_of(
    dtype: str, op: str, factor: float, content: bytes, result: bytes, *, exact: bool, words: Words = DEFAULT
) -> frozenset[Class]:
    """Return the classes that an element's ``result`` belongs to; ``exact`` says that it is the reference's.

    ``content`` are the bytes of the terms in rank order, and ``words`` what the backend declared for their dtype. Where
    the terms are order-free nothing else is admissible; of max and min only the other zero is, where it is there.
    """
    if exact:
        return _EXACT
    terms, value = column(dtype, op, factor, content), np.frombuffer(result, NUMPY[dtype])
    for some in _choices(words):
        found = _admitted(terms, value, some)
        if found:
            wider = {kind for kind, _ in some} <= _WIDER
            return found if not some else frozenset({"wide_accumulator" if wider else "number_model"})
    return frozenset()


@remembered(MOST_COLUMNS)
def shown(terms: Column, result: bytes, words: Words) -> Words:
    """Return the fewest of the declared ``words`` without which the result would not be admissible."""
    value = np.frombuffer(result, NUMPY[terms.dtype])
    return next((some for some in _choices(words) if _admitted(terms, value, some)), DEFAULT)


def _choices(words: Words) -> Iterator[Words]:
    """Yield the number models that a declared one permits: of each kind its word or the first one, few words first."""
    for size in range(len(words) + 1):
        for some in combinations(sorted(words), size):
            kinds = dict(some)
            if "between" not in kinds or "accumulate" in kinds:
                yield frozenset(some)


def _admitted(terms: Column, value: Array, words: Words) -> frozenset[Class]:
    """Return the classes of a result that is not the reference's in exactly this number model."""
    if terms.op in ORDER:
        return frozenset({"any_tree"}) if _compared(terms, value, words) else frozenset()
    if terms.order_free:
        return frozenset()
    if word_of(words, "accumulate") in BEYOND and terms.finite and not terms.complex:
        once = _among(value, beyond(terms, _how(terms, words)), words) or compensated(terms, value, words)
        return frozenset({"number_model"}) if once and _sign_fits(terms, value) else frozenset()
    found = _reached(terms, value, words)
    through = reachable(terms, words)[1] is not None
    if found or (through and not (terms.complex and terms.finite)):
        return found
    near = _near(terms, value, words) if terms.finite else not_finite.reaches(terms, value)
    return frozenset({"within_bound"}) if near else frozenset()


def _reached(terms: Column, value: Array, words: Words) -> frozenset[Class]:
    """Return the classes of trees that the value is found in."""
    in_order, in_any = reachable(terms, words)
    if in_order is not None and _among(value, in_order, words):
        return frozenset({"rank_order_tree", "any_tree"})
    if in_any is None and not words:
        in_any = known_trees(terms)
    return frozenset({"any_tree"}) if in_any is not None and _among(value, in_any, words) else frozenset()


def closest(found: frozenset[Class]) -> Class | None:
    """Return the strongest of some classes."""
    return next((name for name in CLASSES if name in found), None)


def _how(terms: Column, words: Words) -> ReductionArithmetic:
    return carried(terms.dtype, terms.op, terms.factor, len(terms.terms), words)


@remembered(MOST_COLUMNS)
def reachable(terms: Column, words: Words = DEFAULT) -> tuple[Array | None, Array | None]:
    """Return what trees in rank order, and in any order, come to; ``None`` where they are too many to say."""
    how = _how(terms, words)
    if word_of(words, "accumulate") == "extended" and not HAS_EXTENDED:
        return None, None
    join, leaf = (partial(fused_sums.join, how), partial(fused_sums.leaf, how)) if how.fuses else (how.join, how.leaf)
    with np.errstate(all="ignore"):
        totals = in_rank_order(terms.terms, join, leaf), in_any_order(terms.terms, join, leaf)
        if how.fuses:
            in_order, in_any = (None if tree is None else fused_sums.total(how, tree) for tree in totals)
        else:
            in_order, in_any = totals
        return tuple(None if tree is None else how.ended(tree) for tree in (in_order, in_any))  # type: ignore[return-value]  # two


def known_trees(terms: Column) -> Array:
    """Return what the trees of common algorithms come to."""
    how = _how(terms, DEFAULT)
    with np.errstate(all="ignore"):
        return how.ended(in_known_orders(leaves(terms), partial(how.join, plain=True)))


def leaves(terms: Column) -> Array:
    """Return what is combined: the terms, scaled where a factor says so."""
    with np.errstate(all="ignore"):
        return _how(terms, DEFAULT).leaf(terms.terms)


def _compared(terms: Column, value: Array, words: Words) -> bool:
    """Return whether max or min may come to the value: to the other zero, or to what is a zero when it is flushed."""
    if zero_wins(terms) and value[0] == 0 and _among(value, terms.terms, DEFAULT):
        return True
    flushes, numbers = _how(terms, words).flushes, terms.terms
    if not any(flushes) or np.isnan(numbers).any() or not subnormal(numbers).any():
        return False
    pick = np.max if terms.op == "max" else np.min
    compared = flushed(numbers) if flushes[0] else numbers
    chosen = numbers[compared == pick(compared)]
    return _among(value, np.concatenate([chosen, flushed(chosen)]), words)


def zero_wins(terms: Column) -> bool:
    """Return whether what max or min comes to is a zero, of either sign."""
    reals = [re for re, _ in terms.parts]
    return not any(map(math.isnan, reals)) and (max if terms.op == "max" else min)(reals) == 0


def _among(value: Array, reached: Array, words: Words) -> bool:
    """Return whether some value reached has the same bits, or is NaN where the value is.

    What is flushed may be a zero of either sign.
    """
    if value.dtype.kind != "c" and value[0] == 0 and word_of(words, "subnormals") != "kept":
        return bool((reached == 0).any())
    width = value.dtype.itemsize
    bits = one_nan(reached).view(np.uint8).reshape(-1, width) == one_nan(value).view(np.uint8)
    return bool(bits.all(axis=1).any())


def _near(terms: Column, value: Array, words: Words) -> bool:
    """Return whether finite terms whose trees are too many may come to the value."""
    return _bounded(terms, value, words) if terms.op == "product" else _spread(terms, value, words)


def _spread(terms: Column, value: Array, words: Words) -> bool:
    how = _how(terms, words)
    ends, part = sum_interval(terms, how), _parts(terms, value)[0]
    if not isinstance(part, Fraction):
        up, down = ends.over[0] or ends.high == math.inf, ends.over[1] or ends.low == -math.inf
        if not infinite(terms.dtype):
            return up or down
        return all(ends.over) if np.isnan(value[0]) else up if part > 0 else down
    if how.saturates and any(ends.over):
        return True  # what is cut off is no rounding, and may be anything
    return ends.low <= part <= ends.high and (any(how.flushes) or _sign_fits(terms, value))


def _bounded(terms: Column, value: Array, words: Words) -> bool:
    """Return whether a product is within the a-priori bound; what is flushed is an underflow to the least normal."""
    how, part = _how(terms, words), _parts(terms, value)[0]
    flushes = any(how.flushes)
    if not terms.complex and may_overflow(terms) and word_of(words, "between") == word_of(DEFAULT, "between"):
        if how.saturates:
            return isinstance(part, Fraction) and _cut_off(terms, abs(part)) and _sign_fits(terms, value)
        if not isinstance(part, Fraction) and math.isnan(part) and not may_vanish(terms):
            return False  # an infinity times a number is none
        if isinstance(part, Fraction) and surely_overflows(terms):
            return False
    bound = terms.error(terms.format.unit, terms.format.normal) if flushes else terms.bound
    for at, (part, exact, far) in enumerate(zip(_parts(terms, value), terms.exact, bound, strict=True)):
        if isinstance(part, Fraction):
            if abs(part - exact) > far:
                return False
        elif not may_overflow(terms) or (terms.complex and not _part_reached(terms, at, part)):
            return False
    return flushes or _sign_fits(terms, value)


def _cut_off(terms: Column, size: Fraction) -> bool:
    """Return whether a product of real numbers may be so great where what overflows is the greatest number."""
    if may_vanish(terms):
        return True
    unit, exact = terms.format.unit, abs(terms.exact[0])
    cut = terms.format.greatest * _small_factors(terms)
    return min(exact, cut) * (1 - unit) ** terms.steps <= size <= exact * (1 + unit) ** terms.steps


def _part_reached(terms: Column, at: int, infinite: float) -> bool:
    """Return whether some tree has this infinity, or NaN, in one part of a complex product, or may have."""
    trees = reachable(terms)[1]
    if trees is None:
        return True
    parts = (trees.real, trees.imag)[at]
    return bool((np.isnan(parts) if math.isnan(infinite) else parts == infinite).any())


def may_overflow(terms: Column) -> bool:
    """Return whether some partial product may overflow to what is not finite."""
    growth = (1 + terms.format.unit) ** terms.steps
    sizes = [max(abs(re) + abs(im), Fraction(1)) for re, im in terms.numbers]
    return terms.format.rounded(math.prod(sizes) * growth) == math.inf


def surely_overflows(terms: Column) -> bool:
    """Return whether every order of a product of real numbers overflows.

    Where no partial product is subnormal each loses no more than a rounding, and an infinity stays one.
    """
    least = abs(terms.exact[0]) * (1 - terms.format.unit) ** terms.steps
    return terms.format.rounded(least) == math.inf and not may_vanish(terms)


def may_vanish(terms: Column) -> bool:
    """Return whether some partial product of real numbers may be zero, or subnormal, and then round to zero."""
    return _small_factors(terms) * (1 - terms.format.unit) ** terms.steps < terms.format.normal


def _small_factors(terms: Column) -> Fraction:
    """Return the product of the factors that are less than one."""
    return math.prod((min(abs(re), Fraction(1)) for re, _ in terms.numbers), start=Fraction(1))


def _parts(terms: Column, value: Array) -> tuple[Real, Real]:
    """Return the parts of the value; NaN of a format without infinities is the overflow that it stands for."""
    ((real, imaginary),) = parts_of(value)
    if not infinite(terms.dtype) and isinstance(real, float):
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
