"""Reductions that have no meaning and are done all the same, tried in all_reduce."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.reductions import BITWISE, ORDER, REDUCTIONS


class UnknownIsSum(Reference):
    """A chain of comparisons for the reduction ends in an else."""

    breaks = "reduction.C14"

    def all_reduce(self, blocks: list[Array], *, op: str, **rest: Any) -> list[Array]:
        return all_reduce(blocks, op=op if op in REDUCTIONS else "sum", **rest)


class BitsOfFloats(Reference):
    """Bitwise reductions work on bytes and never ask what the bytes stand for."""

    breaks = "reduction.C15"

    def all_reduce(self, blocks: list[Array], *, op: str, **rest: Any) -> list[Array]:
        dtype = blocks[0].dtype
        if op not in BITWISE or kind(logical(dtype)) in ("bool", "integer"):
            return all_reduce(blocks, op=op, **rest)
        words = [np.ascontiguousarray(block)[..., None].view(np.uint8) for block in blocks]
        out = all_reduce(words, op=op, **{**rest, "local_axes": ()})
        return [word.view(dtype).reshape(block.shape) for word, block in zip(out, blocks, strict=True)]


class MaxOfComplexParts(Reference):
    """pytorch#47522: complex numbers are seen as pairs of reals, and each part has its own maximum."""

    breaks = "reduction.C16"
    corpus = ("pytorch#47522",)

    def all_reduce(self, blocks: list[Array], *, op: str, **rest: Any) -> list[Array]:
        dtype = blocks[0].dtype
        if op not in ORDER or dtype.kind != "c":
            return all_reduce(blocks, op=op, **rest)
        parts = [np.ascontiguousarray(block)[..., None].view(f"f{dtype.itemsize // 2}") for block in blocks]
        out = all_reduce(parts, op=op, **{**rest, "local_axes": ()})
        return [part.view(dtype).reshape(block.shape) for part, block in zip(out, blocks, strict=True)]


class PremulOfIntegers(Reference):
    """The factor is cast to the dtype of the blocks, whatever that makes of it."""

    breaks = "reduction.C17"

    def all_reduce(self, blocks: list[Array], *, op: str, factor: float, **rest: Any) -> list[Array]:
        if op != "premul_sum" or kind(logical(blocks[0].dtype)) in ("float", "complex"):
            return all_reduce(blocks, op=op, factor=factor, **rest)
        scaled = [(block * np.array(factor).astype(block.dtype)).astype(block.dtype) for block in blocks]
        return all_reduce(scaled, op="sum", **rest)
