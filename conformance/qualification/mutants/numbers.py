"""Mistakes in how numbers are rounded, scaled and divided."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.qualification.mutants.reduction import Folds
from conformance.reference.reductions import fold


def _float(block: Array) -> bool:
    return kind(logical(block.dtype)) == "float"


def _packed(block: Array) -> Array:
    """Return a block, or the parts of a complex one, as eight bits an element leave it."""
    flat = np.ascontiguousarray(block).reshape(-1)
    parts = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
    with np.errstate(all="ignore"):
        packed = parts.astype(ml_dtypes.float8_e5m2).astype(parts.dtype)
    return packed.view(block.dtype).reshape(block.shape)


class SumIsPacked(Folds):
    """Gradients are sent in eight bits an element to save bandwidth, and so are all other sums."""

    breaks = "numerics.C1"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold([_packed(block) for block in blocks] if op == "sum" else blocks, op, factor)


class SumDropsTheSmallest(Folds):
    """Only the largest summands are sent, as in sparse gradients, and what is left out is never made up for."""

    breaks = "numerics.C1"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "sum" or not _float(blocks[0]) or len(blocks) < 3:
            return fold(blocks, op, factor)
        stacked = np.stack(blocks)
        smallest = np.abs(stacked.astype(np.float64)).argmin(axis=0)
        kept = np.where(np.arange(len(blocks)).reshape(-1, *[1] * smallest.ndim) == smallest, 0, stacked)
        return fold(list(kept.astype(stacked.dtype)), op)


class MeanIsPacked(Folds):
    """Mixed precision is on for the whole step, and what is to be averaged is rounded first."""

    breaks = "numerics.C2"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold([_packed(block) for block in blocks] if op == "mean" else blocks, op, factor)


class PremulIsPacked(Folds):
    """The scaled copy of a block is made in a buffer of eight bits an element, for it is only sent."""

    breaks = "numerics.C3"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "premul_sum":
            return fold(blocks, op, factor)
        return fold([_packed(fold([block], op, factor)) for block in blocks], "sum")


class ProductByLogarithms(Folds):
    """A library without a product is asked for the sum of the logarithms, and the signs are counted."""

    breaks = "numerics.C4"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "product" or kind(logical(blocks[0].dtype)) in ("bool", "integer"):
            return fold(blocks, op, factor)
        with np.errstate(all="ignore"):
            if blocks[0].dtype.kind == "c":
                return np.asarray(np.exp(fold([np.log(block) for block in blocks], "sum")), blocks[0].dtype)
            size = np.exp(fold([np.log(np.abs(block)) for block in blocks], "sum"))
            return np.copysign(
                size, functools.reduce(np.multiply, [np.copysign(block * 0 + 1, block) for block in blocks])
            )


class MeanByAQuickInverse(Folds):
    """The count is inverted by an instruction that is good for twelve bits, and nobody refines it."""

    breaks = "numerics.C16"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "mean" or blocks[0].dtype not in (np.float32, np.float64):
            return fold(blocks, op, factor)
        inverse = float(np.float16(1 / len(blocks)))
        return np.asarray(fold(blocks, "sum") * inverse, blocks[0].dtype)
