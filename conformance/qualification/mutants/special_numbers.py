"""Mistakes with zeros, infinities, NaN, subnormal numbers and overflow."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.numbers import _float
from conformance.qualification.mutants.reduction import Folds
from conformance.reference.reductions import by_real, fold

ADDING = ("sum", "mean", "premul_sum")


class NaNCountsAsZero(Folds):
    """A step that is not to be lost to one bad sample replaces NaN by zero before it adds."""

    breaks = "numerics.C5"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op not in ADDING or not _float(blocks[0]):
            return fold(blocks, op, factor)
        return fold([np.where(np.isnan(block), np.zeros((), block.dtype), block) for block in blocks], op, factor)


class SumStartsAtZero(Folds):
    """Blocks are padded to one length with +0.0 and added to an accumulator that was cleared."""

    breaks = "numerics.C6"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op not in ADDING or not _float(blocks[0]):
            return fold(blocks, op, factor)
        total = fold(blocks, op, factor)
        return np.asarray(total + np.zeros((), total.dtype), total.dtype)


class SumIsNegatedTwice(Folds):
    """A sum is had from a difference by negating what goes in and what comes out, zeros included."""

    breaks = "numerics.C7"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op not in ADDING or not _float(blocks[0]):
            return fold(blocks, op, factor)
        return np.negative(fold([np.negative(block) for block in blocks], op, factor))


class SumIsCompensated(Folds):
    """Kahan's summation keeps what rounding lost, which of an infinity is infinity less infinity."""

    breaks = "numerics.C8"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op not in ADDING or not _float(blocks[0]):
            return total
        with np.errstate(invalid="ignore"):
            return np.asarray(total + (total - total), total.dtype)


class FirstInfinityWins(Folds):
    """What is infinite is looked for first, so that nothing need be added any more."""

    breaks = "numerics.C9"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op != "sum" or not _float(blocks[0]):
            return total
        for block in reversed(blocks):
            total = np.where(np.isinf(block), block, total).astype(total.dtype)
        return total


class ZeroEndsTheProduct(Folds):
    """As soon as a factor is zero the product is known to be zero."""

    breaks = "numerics.C10"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op != "product" or not _float(blocks[0]):
            return total
        zero = functools.reduce(np.logical_or, [block == 0 for block in blocks])
        return np.where(zero & np.isnan(total), np.zeros((), total.dtype), total).astype(total.dtype)


class ZeroProductHasNoSign(Folds):
    """A product that is zero is replaced by the constant zero."""

    breaks = "numerics.C11"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        return np.where(total == 0, np.zeros((), total.dtype), total).astype(total.dtype) if op == "product" else total


def _flushed(block: Array) -> Array:
    with np.errstate(invalid="ignore"):
        small = np.abs(block) < ml_dtypes.finfo(block.dtype).smallest_normal
    return np.where(small, np.copysign(np.zeros((), block.dtype), block), block).astype(block.dtype)


class FlushesDoubles(Folds):
    """The process sets the register that flushes subnormal numbers, for speed, and doubles obey it as well."""

    breaks = "numerics.C12"
    flushed: tuple[Any, ...] = (np.float64, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if blocks[0].dtype not in self.flushed:
            return fold(blocks, op, factor)
        return _flushed(fold([_flushed(block) for block in blocks], op, factor))


class FlushesSingles(FlushesDoubles):
    """Kernels are compiled with the flag of fast mathematics that flushes subnormal single-precision numbers."""

    breaks = "numerics.C13"
    flushed = (np.float32, ml_dtypes.bfloat16, np.float16)


class SumSaturatesFloats(Folds):
    """The conversion at the end of a sum saturates, as conversions for inference do."""

    breaks = "numerics.C14"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if not _float(total) or total.dtype == ml_dtypes.float8_e4m3fn:
            return total
        most = ml_dtypes.finfo(total.dtype).max
        return np.where(np.isinf(total), np.copysign(most, total), total).astype(total.dtype)


class Float8Saturates(Folds):
    """float8_e4m3fn is converted to with the saturation that its specification also allows."""

    breaks = "numerics.C15"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if total.dtype != ml_dtypes.float8_e4m3fn:
            return total
        kept = functools.reduce(np.logical_or, [np.isnan(block) for block in blocks])
        return np.where(np.isnan(total) & ~kept, ml_dtypes.finfo(total.dtype).max, total).astype(total.dtype)


class PartialSumsSaturate(Folds):
    """The adder of an accelerator clamps each partial sum to the greatest finite number."""

    breaks = "numerics.C17"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "sum" or not _float(blocks[0]):
            return fold(blocks, op, factor)
        most = float(ml_dtypes.finfo(blocks[0].dtype).max)

        def add(left: Array, right: Array) -> Array:
            return np.clip((fold([left, right], "sum")).astype(np.float64), -most, most).astype(left.dtype)

        with np.errstate(invalid="ignore"):
            return functools.reduce(add, blocks)


class MeanSumsInHalf(Folds):
    """The sum under a mean is kept in half precision, whatever its dtype, and overflows where the mean fits."""

    breaks = "numerics.C18"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "mean" or not _float(blocks[0]):
            return fold(blocks, op, factor)
        with np.errstate(over="ignore"):
            total = fold([block.astype(np.float16) for block in blocks], "sum").astype(np.float32)
        return np.asarray(total / np.float32(len(blocks)), blocks[0].dtype)


class CountIsComplex(Folds):
    """The count is converted to the dtype of the sum, and one complex number is divided by another."""

    breaks = "numerics.C19"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "mean" or blocks[0].dtype.kind != "c":
            return fold(blocks, op, factor)
        total = fold(blocks, "sum")
        with np.errstate(all="ignore"):
            return np.asarray(total / np.array(len(blocks), total.dtype), total.dtype)


class MaxAddsAZero(Folds):
    """Sign and size are taken apart to compare, and put together again by an addition of +0.0."""

    breaks = "numerics.C20"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op not in ("max", "min") or not _float(blocks[0]):
            return total
        return np.asarray(total + np.zeros((), total.dtype), total.dtype)


class EqualZerosKeepTheFirst(Folds):
    """``a >= b ? a : b`` keeps the first of two zeros, and which is first is a matter of the algorithm."""

    breaks = "numerics.C21"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op not in ("max", "min") or not _float(blocks[0]):
            return total
        for block in reversed(blocks):
            total = np.where((total == 0) & (block == 0), block, total)
        return np.asarray(total, blocks[0].dtype)


class MissingInBothParts(Folds):
    """A complex number that is NaN in any part counts as missing, and missing is NaN in both parts."""

    breaks = "numerics.C22"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op != "sum" or total.dtype.kind != "c":
            return total
        return np.where(np.isnan(total), np.array(complex(np.nan, np.nan), total.dtype), total)


def _multiplied(blocks: Sequence[Array], multiply: Any) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(functools.reduce(multiply, blocks), blocks[0].dtype)


class RealFactorsScale(Folds):
    """A factor without an imaginary part is multiplied with each part, which is half the work."""

    breaks = "numerics.C23"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "product" or blocks[0].dtype.kind != "c":
            return fold(blocks, op, factor)

        def multiply(left: Array, right: Array) -> Array:
            out = fold([left, right], op)
            scaled = by_real(np.multiply, left, 1.0)
            scaled.real, scaled.imag = left.real * right.real, left.imag * right.real
            return np.where(right.imag == 0, scaled, out)

        return _multiplied(blocks, multiply)


class InfinityIsOne(Folds):
    """Compared with anything infinite all else is small: such a product is given both parts infinite."""

    breaks = "numerics.C24"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op != "product" or total.dtype.kind != "c":
            return total
        infinite = functools.reduce(np.logical_or, [np.isinf(block) for block in blocks])
        return np.where(infinite, np.array(complex(np.inf, np.inf), total.dtype), total)


class ComplexZeroHasNoSigns(Folds):
    """As soon as a complex factor is zero the product is known to be zero, and is that constant."""

    breaks = "numerics.C25"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op != "product" or total.dtype.kind != "c":
            return total
        return np.where(total == 0, np.zeros((), total.dtype), total)


class ProductInPolarForm(Folds):
    """Complex numbers are multiplied as sizes and angles, and a size that overflows makes both parts infinite."""

    breaks = "numerics.C26"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        total = fold(blocks, op, factor)
        if op != "product" or total.dtype.kind != "c" or not all(np.isfinite(block).all() for block in blocks):
            return total
        far = np.isinf(total.real) | np.isinf(total.imag)
        return np.where(far, np.array(complex(np.inf, np.inf), total.dtype), total)
