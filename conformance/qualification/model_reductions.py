"""Reductions computed in the words of a number model, one of the ways that they permit: step by step, in rank order."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from conformance.cases.declarations.number_model import BEYOND, number_model, word_of
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.judging.numbers.precision import exactly, precision
from conformance.reference.reductions import ARITHMETIC, ORDER, by_real, fold, narrowed, quotient

NODE = 3
"""Ranks of a node, whose sums go on to the others."""


def chosen(blocks: Sequence[Array], op: str, factor: float, declared: Mapping[str, str]) -> Array:
    """Return the blocks reduced as a backend does that declares this number model, and uses all that it permits."""
    dtype = logical(blocks[0].dtype)
    if kind(dtype) == "complex" and op in ("sum", "mean", "premul_sum"):
        sides = [chosen([side(block) for block in blocks], op, factor, declared) for side in (np.real, np.imag)]
        out = np.empty(sides[0].shape, blocks[0].dtype)
        out.real, out.imag = sides
        return out
    words = (
        {kind: word_of(number_model(declared).words(dtype, op), kind) for kind in declared}
        if kind(dtype) == "float"
        else {}
    )
    if op in ORDER and words.get("subnormals", "kept") != "kept":
        return fold([_flush(block) for block in blocks], op)
    if op not in ARITHMETIC or not words:
        return fold(blocks, op, factor)
    with np.errstate(all="ignore"):
        return _Machine(blocks[0].dtype, words).run(list(blocks), op, factor)


class _Machine:
    """An accelerator with some number model, of one dtype."""

    def __init__(self, own: np.dtype[Any], words: Mapping[str, str]) -> None:
        self.own, self.words = own, words
        form = words.get("accumulate", "own")
        self.kept = own if form in ("own", *BEYOND) else np.dtype(np.longdouble) if form == "extended" else NUMPY[form]
        sent = words.get("between", "accumulated")
        self.sent = None if sent == "accumulated" else own if sent == "own" else NUMPY[sent]

    def run(self, blocks: list[Array], op: str, factor: float) -> Array:
        if op == "mean" and self.words.get("mean") in ("divided_terms", "scaled_terms"):
            return self._sum([self._scaled(block, len(blocks)) for block in blocks])
        if op == "premul_sum":
            if self.words.get("multiply_add") == "fused":
                return _fused(blocks, factor)
            blocks = [self._given(by_real(np.multiply, self._taken(block), factor)) for block in blocks]
        total = self._sum(blocks, np.multiply if op == "product" else np.add)
        if op != "mean":
            return total
        if self.words.get("mean") == "reciprocal":
            return self._given(by_real(np.multiply, total, float(narrow(np.array([1 / len(blocks)]), self.own)[0])))
        return self._given(quotient(total, len(blocks)))

    def _sum(self, blocks: list[Array], combine: Any = np.add) -> Array:
        accumulate = self.words.get("accumulate")
        if accumulate == "exact":
            return rounded_once(blocks, combine is np.multiply)
        if accumulate == "compensated" and combine is np.add:
            return compensated(blocks)
        wide = [np.asarray(block, self.kept) for block in blocks]
        if self.sent is not None:
            nodes = [wide[at : at + NODE] for at in range(0, len(wide), NODE)]
            wide = [narrow(self._all(node, combine), self.sent).astype(self.kept) for node in nodes]
        total = self._all(wide, combine)
        return self._converted(total)

    def _all(self, blocks: list[Array], combine: Any) -> Array:
        def step(left: Array, right: Array) -> Array:
            found = np.asarray(combine(self._taken(left), self._taken(right)), self.kept)
            return self._given(self._clamped(found, left, right, combine) if self.kept == self.own else found)

        return functools.reduce(step, blocks)

    def _converted(self, total: Array) -> Array:
        return narrow(total, self.own)

    def _scaled(self, block: Array, count: int) -> Array:
        if self.words["mean"] == "divided_terms":
            return self._given(quotient(self._taken(block), count))
        return self._given(by_real(np.multiply, self._taken(block), float(narrow(np.array([1 / count]), self.own)[0])))

    def _taken(self, block: Array) -> Array:
        return _flush(block) if self.words.get("subnormals") in ("flushed", "flushed_terms") else block

    def _given(self, block: Array) -> Array:
        return _flush(block) if self.words.get("subnormals") in ("flushed", "flushed_results") else block

    def _clamped(self, found: Array, left: Array, right: Array, combine: Any) -> Array:
        if self.words.get("overflow") != "saturated":
            return found
        most = np.array(ml_dtypes.finfo(self.own).max, np.float64)
        over = ~np.isfinite(found) & ~np.isnan(left) & ~np.isnan(right) & (np.isfinite(left) | np.isfinite(right))
        sign = np.sign(combine(left.astype(np.float64), right.astype(np.float64)))
        return np.where(over, (sign * most).astype(self.own), found).astype(self.own)


def rounded_once(blocks: Sequence[Array], multiplies: bool = False) -> Array:
    """Return the exact sum or product of real blocks, rounded once; a plain one where a term is not finite."""
    form, combine = precision(logical(blocks[0].dtype)), np.multiply if multiplies else np.add
    out = np.array(functools.reduce(combine, blocks))
    for index in np.ndindex(out.shape):
        terms = [exactly(block[index]) for block in blocks]
        numbers = [term for term in terms if isinstance(term, Fraction)]
        if len(numbers) == len(terms):
            total = math.prod(numbers, start=Fraction(1)) if multiplies else sum(numbers, start=Fraction(0))
            if total:  # a zero has the sign that plain operations give it, or is what cancels
                out[index] = np.array(math.copysign(float(form.rounded(total)), -(total < 0) or 1)).astype(out.dtype)
            elif not multiplies and any(numbers):
                out[index] = 0
    return out


def compensated(blocks: Sequence[Array]) -> Array:
    """Return sums that carry what each addition rounds off, as Neumaier's do; plain ones where one is not finite."""
    total, lost = np.array(blocks[0]), np.zeros_like(blocks[0])
    plain = np.asarray(functools.reduce(np.add, blocks))
    for block in blocks[1:]:
        found = np.asarray(total + block)
        large = np.abs(total) >= np.abs(block)
        lost = np.asarray(lost + np.where(large, (total - found) + block, (block - found) + total))
        total = found
    ended = np.asarray(total + lost).astype(plain.dtype)
    return np.where(np.isfinite(plain) & np.isfinite(ended) & (lost != 0), ended, plain).astype(plain.dtype)


def narrow(block: Array, dtype: np.dtype[Any]) -> Array:
    """Return a block in a narrower float format, rounded once."""
    if block.dtype == dtype:
        return np.asarray(block)
    if block.dtype.itemsize >= 8 and dtype.itemsize <= 2:
        return narrowed(np.asarray(block, np.float64), dtype)
    return np.asarray(block, dtype)


def _flush(block: Array) -> Array:
    with np.errstate(invalid="ignore"):
        small = np.abs(block) < ml_dtypes.finfo(block.dtype).smallest_normal
    return np.where(small, np.copysign(np.zeros((), block.dtype), block), block).astype(block.dtype)


def _fused(blocks: Sequence[Array], factor: float) -> Array:
    """Return a premul_sum by fused multiply-adds, exactly where everything is finite."""
    form, out = precision(logical(blocks[0].dtype)), fold(blocks, "premul_sum", factor)
    scale = exactly(np.array(factor, out.dtype))
    for index in np.ndindex(out.shape):
        total: Any = None
        for block in blocks:
            term = exactly(block[index])
            if not isinstance(term, Fraction) or not isinstance(scale, Fraction) or isinstance(total, float):
                break
            exact = scale * term
            zero = not exact and (total is None or not total)
            total = None if zero else form.rounded(exact + (total or 0))
            if zero:
                break
        else:
            if isinstance(total, Fraction) and total:
                out[index] = np.array(float(total)).astype(out.dtype)
    return out
