"""What the operations of a reduction come to in a number model: leaves of its trees, nodes, and what ends them.

Each gives every value that a right implementation may come to, so it may give more values than it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Final

import numpy as np

from conformance.cases.declarations.number_model import BEYOND, Words, word_of
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.judging.numbers.complex_product import products
from conformance.judging.numbers.formats import flushed, greatest, rounded_to, subnormal, tiny
from conformance.reference.reductions import times

FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)
EXTENDED: Final = np.dtype(np.longdouble)
HAS_EXTENDED: Final = np.finfo(np.longdouble).nmant == 63
"""Whether NumPy computes in the 80-bit format here; where it does not, a bound stands for trees in that format."""


@dataclass(frozen=True)
class ReductionArithmetic:
    """The arithmetic of a reduction of ``count`` terms of a dtype, in the words that its number model has for it."""

    dtype: str
    op: str
    factor: float
    count: int
    words: Words

    @cached_property
    def own(self) -> np.dtype[Any]:
        """Return the dtype of the terms."""
        return NUMPY[self.dtype]

    @cached_property
    def kept(self) -> np.dtype[Any]:
        """Return the dtype of partial results."""
        word = word_of(self.words, "accumulate")
        if word in ("own", *BEYOND):
            return self.own
        real = EXTENDED if word == "extended" else NUMPY[word]
        return np.result_type(real, np.complex64) if self.own.kind == "c" else real

    @cached_property
    def sent(self) -> np.dtype[Any] | None:
        """Return the dtype that partial results may be rounded to, if there is one."""
        word = word_of(self.words, "between")
        return None if word == "accumulated" else self.own if word == "own" else NUMPY[word]

    @cached_property
    def flushes(self) -> tuple[bool, bool]:
        """Return whether subnormal terms of operations, and subnormal results, are zeros."""
        word = word_of(self.words, "subnormals")
        return word in ("flushed", "flushed_terms"), word in ("flushed", "flushed_results")

    @cached_property
    def saturates(self) -> bool:
        """Return whether conversions stop at the greatest number."""
        return word_of(self.words, "overflow") == "saturated"

    @cached_property
    def mean(self) -> str:
        """Return how a mean comes out of its terms; of another reduction nothing."""
        return word_of(self.words, "mean") if self.op == "mean" else ""

    @cached_property
    def fuses(self) -> bool:
        """Return whether scaled terms are added before they are rounded, to partial results that are rounded."""
        scales = self.op == "premul_sum" or self.mean == "scaled_terms"
        return scales and self.kept == self.own and word_of(self.words, "multiply_add") == "fused"

    def leaf(self, term: Array) -> Array:
        """Return what may be combined of one term."""
        if self.op == "premul_sum":
            return self._scaled(term, np.array(self.factor, self.own))
        if self.mean == "divided_terms":
            return self._gathered([(self._quotient(term, form), form) for form in self._formats])
        if self.mean == "scaled_terms":
            return self._gathered([(self._by_inverse(term, form), form) for form in (self.own, *self._formats)])
        ways = [rounded_to(term, self.kept)]
        if self.flushes[0] and self.kept != self.own:
            ways.append(rounded_to(flushed(term), self.kept))
        if self.saturates and np.isinf(term).any():  # it was converted on its way into the sum or the product
            ways.append(rounded_to(_clamped(term, np.sign(term), ~np.isnan(term)), self.kept))
        return np.concatenate(ways)

    def join(self, left: Array, right: Array, *, plain: bool = False) -> Array:
        """Return what two partial results may come to; of complex products that are ``plain`` the formula's alone.

        The formula's come first among all.
        """
        with np.errstate(all="ignore"):
            if self.flushes[0]:
                left, right = flushed(left), flushed(right)
            if self.op != "product":
                found = np.add(left, right)
                found = self.after(found, np.sign(_real(left) + _real(right)), left, right)
            elif self.own.kind == "c":
                found = times(left, right) if plain or left.dtype.itemsize > 16 else products(left, right)
            else:
                found = np.multiply(left, right)
                found = self.after(found, np.sign(_real(left)) * np.sign(right), left, right, added=False)
            return (
                found
                if self.sent is None
                else np.concatenate([found, rounded_to(self._to(found, self.sent), self.kept)])
            )

    def ended(self, totals: Array) -> Array:
        """Return what is made of a sum or a product, in the dtype of the terms."""
        with np.errstate(all="ignore"):
            found = self._divided(totals) if self.mean in ("division", "reciprocal") else self._to(totals, self.own)
            if self.count == 1 and any(self.flushes):
                found = np.concatenate([found, flushed(found)])
            return found

    def after(self, found: Array, sign: Array, *operands: Array, added: bool = True) -> Array:
        """Return what an operation whose rounded result is ``found`` may come to in a format with these words."""
        ways = [found]
        if self.flushes[1]:
            ways = [flushed(found)]
            if not added:  # it may have been subnormal before it was rounded
                ways.append(np.where(np.abs(found) == tiny(found.dtype), np.zeros(1, found.dtype), ways[0]))
        if self.saturates and found.dtype == self.own:
            numbers = ~np.logical_or.reduce([np.isnan(side) for side in operands]) if operands else ~np.isnan(found)
            ways += [_clamped(way, sign, numbers) for way in ways]
        return np.concatenate(ways)

    @cached_property
    def _formats(self) -> tuple[np.dtype[Any], ...]:
        """Return the formats that a quotient, or a product with an inverse, may be computed in."""
        wide = (self.kept,) if self.kept != self.own else ()
        return tuple(dict.fromkeys((*wide, *((FLOAT32,) if self.own.itemsize <= 4 else ()), FLOAT64)))

    def _to(self, values: Array, dtype: np.dtype[Any]) -> Array:
        """Return what the conversion of partial results to a dtype may come to."""
        found = rounded_to(values, dtype)
        if dtype == self.kept:
            return self._saturated(found, values)
        ways = [found]
        if any(self.flushes):
            ways.append(flushed(found))
        if self.saturates:
            numbers = ~np.isnan(values)
            ways += [_clamped(way, np.sign(_real(values)), numbers) for way in ways]
        return np.concatenate(ways)

    def _saturated(self, found: Array, values: Array) -> Array:
        if not self.saturates:
            return found
        return np.concatenate([found, _clamped(found, np.sign(_real(values)), ~np.isnan(values))])

    def _scaled(self, term: Array, number: Array) -> Array:
        """Return a term times a number of its dtype, rounded there or as partial results are."""
        with np.errstate(all="ignore"):
            ways = []
            factors = (number, flushed(number)) if self.flushes[0] and subnormal(number).any() else (number,)
            for form, factor in product(dict.fromkeys((self.own, self.kept)), factors):
                one = flushed(term) if self.flushes[0] else term
                one, by = rounded_to(one, form), rounded_to(factor, form)
                found = self.after(np.multiply(one, by), np.sign(_real(one)) * np.sign(_real(by)), one, added=False)
                ways.append(rounded_to(found, self.kept))
            return np.concatenate(ways)

    def _gathered(self, found: list[tuple[Array, np.dtype[Any]]]) -> Array:
        """Return scaled terms as they are added: rounded to their own dtype, or as partial results are."""
        with np.errstate(all="ignore"):
            ways = [rounded_to(self._to(each, self.own), self.kept) for each, _ in found]
            ways += [each for each, form in found if form == self.kept]
            return np.concatenate(ways)

    def _divided(self, totals: Array) -> Array:
        """Return sums divided by the count, before or after they are rounded to the dtype of the terms."""
        sums = [totals] if self.kept == self.own else [totals, self._to(totals, self.own)]
        ways = []
        for total in sums:
            if self.mean == "division":
                ways += [self._to(self._quotient(total, form), self.own) for form in self._formats]
            else:
                forms = (*(() if total.dtype != self.own else (self.own,)), *self._formats)
                ways += [self._to(self._by_inverse(total, form), self.own) for form in forms]
        found = np.concatenate(ways)
        if not any(self.flushes):
            return found
        return np.concatenate([found, np.where(np.abs(found) == tiny(self.own), np.zeros(1, self.own), flushed(found))])

    def _quotient(self, total: Array, form: np.dtype[Any]) -> Array:
        total = flushed(total) if self.flushes[0] else total
        wide = form if form.itemsize > 2 else FLOAT32
        return rounded_to(np.divide(rounded_to(total, wide), np.array(self.count, wide)), form)

    def _by_inverse(self, total: Array, form: np.dtype[Any]) -> Array:
        total = flushed(total) if self.flushes[0] else total
        return np.multiply(rounded_to(total, form), inverse(self.count, form))


def _real(values: Array) -> Array:
    """Return numbers in float64, for their signs: of complex ones, which never saturate, the real parts."""
    return values.real.astype(FLOAT64)


@lru_cache(maxsize=512)
def carried(dtype: str, op: str, factor: float, count: int, words: Words) -> ReductionArithmetic:
    """Return the one arithmetic of these."""
    return ReductionArithmetic(dtype, op, factor, count, words)


def inverse(count: int, form: np.dtype[Any]) -> Array:
    """Return the inverse of a count, rounded once to a format."""
    wide = form if form.itemsize > 8 else FLOAT64
    return rounded_to(np.divide(np.ones(1, wide), np.array(count, wide)), form)


def _clamped(found: Array, sign: Array, numbers: Array) -> Array:
    """Return ``found`` with the greatest number for what is past it, or infinite, where ``numbers`` were combined."""
    repeated = np.resize(numbers, found.shape), np.resize(sign, found.shape)
    over = ~np.isfinite(found) & repeated[0]
    sides = np.where(np.isinf(found), np.sign(found.astype(FLOAT64)), repeated[1])
    most = rounded_to(sides * float(greatest(found.dtype)), found.dtype)
    return np.where(over & (sides != 0), most, found).astype(found.dtype)
