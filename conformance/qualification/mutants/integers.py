"""Mistakes in reductions of integers."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.qualification.mutants.reduction import Folds
from conformance.reference.reductions import fold


class SumSaturates(Folds):
    """Integer sums stop at the extremes of their type, as packed instructions for pixels do."""

    breaks = "reduction.C12"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        dtype = blocks[0].dtype
        if op != "sum" or kind(logical(dtype)) != "integer":
            return fold(blocks, op, factor)
        total = functools.reduce(np.add, [block.astype(np.object_) for block in blocks])
        info = ml_dtypes.iinfo(dtype)
        return np.clip(total, int(info.min), int(info.max)).astype(dtype)


class IntegersInFloat32(Folds):
    """Integers pass through an accelerator's float pipeline, which has 24 bits and no wrap-around."""

    breaks = "reduction.C12"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        dtype = blocks[0].dtype
        if op not in ("sum", "product") or kind(logical(dtype)) != "integer":
            return fold(blocks, op, factor)
        info = ml_dtypes.iinfo(dtype)
        total = fold([block.astype(np.float32) for block in blocks], op).astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.clip(total, float(info.min), float(info.max)).astype(dtype)


class MeanScalesByAnIntegerInverse(Folds):
    """InfiniCCL#37: the sum is multiplied by 1/n in its own dtype, which is 0 for integers."""

    breaks = "reduction.C22"
    corpus = ("InfiniCCL#37",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "mean" or kind(logical(blocks[0].dtype)) != "integer":
            return fold(blocks, op, factor)
        return fold(blocks, "sum") * np.array(1 / len(blocks)).astype(blocks[0].dtype)


class MeanOfIntegersIsAnInteger(Folds):
    """The mean of integers is the right quotient, cut to an integer, as in most libraries that have one."""

    breaks = "reduction.C13"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "mean" or kind(logical(blocks[0].dtype)) != "integer":
            return fold(blocks, op, factor)
        return np.asarray(fold(blocks, "sum").astype(np.object_) // len(blocks)).astype(blocks[0].dtype)
