"""Mistakes about what single steps compute: in which dtype, along which axis, and with which special numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from conformance.backends.reference import Stored
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.qualification.mutants.effectful import Effectful
from conformance.reference.effects import Ranks
from conformance.reference.reductions import narrowed

OPS = ("all_reduce", "all_gather", "permute")


class _Changed(Stored):
    """Computes something else where ``other`` says so."""

    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        raise NotImplementedError

    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        made = super().compute(where, step, operands)
        with np.errstate(all="ignore"):
            found = [self.other(step, *pair) for pair in zip(zip(*operands, strict=True), made, strict=True)]
        return [np.asarray(new, old.dtype).reshape(old.shape) for new, old in zip(found, made, strict=True)]


class _Narrow(_Changed):
    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        if step.op != "dot" or not step.attrs.get("acc") or not right.size:
            return right
        left, other = blocks
        total = np.zeros(right.shape, right.dtype)
        for at in range(left.shape[-1]):
            total = np.asarray(total + np.multiply.outer(left[..., at], other[at]).astype(right.dtype), right.dtype)
        return total


class DotAccumulatesInItsOwnDtype(Effectful):
    """A matrix product of int8 or bfloat16 keeps its partial sums in the operands' dtype, whatever it is asked for."""

    breaks = "computing.C16"
    ops = OPS
    effects = _Narrow


class _Bound(_Changed):
    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        inexact = kind(logical(right.dtype)) == "float" and right.dtype.itemsize >= 4
        if not inexact or not (step.op == "dot" or (step.op == "fold" and step.attrs["op"] in ("add", "mul"))):
            return right
        return right.astype(np.float16).astype(right.dtype)


class SumsInHalves(Effectful):
    """A fast mode multiplies and adds singles in half precision, and is on by default."""

    breaks = "computing.C9"
    ops = OPS
    effects = _Bound


class _Saturating(_Changed):
    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        if step.op != "alu" or step.attrs["op"] not in ("add", "mul") or right.dtype.kind != "i":
            return right
        wide = [block.astype(object) for block in blocks]
        exact = wide[0] + wide[1] if step.attrs["op"] == "add" else wide[0] * wide[1]
        info = np.iinfo(right.dtype)
        return np.clip(exact, info.min, info.max)


class IntegersSaturate(Effectful):
    """Vector instructions for signal processing stop at the greatest integer instead of wrapping around."""

    breaks = "computing.C10"
    ops = OPS
    effects = _Saturating


class _Approximate(_Changed):
    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        if step.op != "alu" or step.attrs["op"] not in ("add", "sub", "mul") or right.dtype.kind != "f":
            return right
        if right.dtype.itemsize < 4:
            return right
        return right.astype(np.float32).astype(right.dtype) if right.dtype.itemsize == 8 else np.nextafter(right, 0)


class FloatsLoseABit(Effectful):
    """Arithmetic by a fast approximation is off by one in the last place."""

    breaks = "computing.C11"
    ops = OPS
    effects = _Approximate


class _Ordered(_Changed):
    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        if step.op != "alu" or step.attrs["op"] not in ("ne", "eq") or kind(logical(blocks[0].dtype)) != "float":
            return right
        apart = (blocks[0] < blocks[1]) | (blocks[0] > blocks[1])
        return apart if step.attrs["op"] == "ne" else ~apart


class NotANumberIsEqual(Effectful):
    """Unequal is taken for less or greater, which a NaN is not."""

    breaks = "computing.C12"
    ops = OPS
    effects = _Ordered


class _Masked(_Changed):
    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        if step.op != "alu" or step.attrs["op"] != "where" or kind(logical(right.dtype)) not in ("float", "integer"):
            return right
        chosen, one, two = blocks
        return chosen.astype(right.dtype) * one + (~chosen).astype(right.dtype) * two


class ChoosesByMultiplying(Effectful):
    """A choice is made by masks that are multiplied, so that zeros lose their signs and infinities become NaN."""

    breaks = "computing.C13"
    ops = OPS
    effects = _Masked


class _Truncating(_Changed):
    def other(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        if step.op != "cast" or logical(right.dtype) not in ("bfloat16", "float16"):
            return right
        if kind(logical(blocks[0].dtype)) not in ("float", "integer"):
            return right
        wide = blocks[0].astype(np.float64)
        near = narrowed(wide, right.dtype)
        past = np.abs(near.astype(np.float64)) > np.abs(wide)
        bits = near.view(np.uint16) - np.asarray(past & np.isfinite(near.astype(np.float64)), np.uint16)
        return bits.view(right.dtype)


class ConversionsTruncate(Effectful):
    """Singles become bfloat16 by dropping their lower half."""

    breaks = "computing.C14"
    ops = OPS
    effects = _Truncating


class _OtherAxis(Stored):
    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        axes: Any = step.attrs.get("axes", ())
        if step.op == "fold" and len(axes) == 1:
            shapes = {block.shape for block in operands[0]}
            shape = next(iter(shapes))
            alike = [axis for axis in range(len(shape)) if axis != axes[0] and shape[axis] == shape[axes[0]]]
            if len(shapes) == 1 and alike:
                step = replace(step, attrs={**step.attrs, "axes": (alike[0],)})
        return super().compute(where, step, operands)


class FoldsAnotherAxis(Effectful):
    """The axes of a fold are counted in the order in which they lie in memory, which square blocks hide from shapes."""

    breaks = "computing.C15"
    ops = OPS
    effects = _OtherAxis
