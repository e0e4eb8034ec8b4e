"""Choices about numbers that a right implementation may make if it says so, made without saying so.

``declared`` is the number model that admits each of them.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from conformance.cases.tensor.dtypes import Array
from conformance.qualification.model_reductions import chosen
from conformance.qualification.mutants.reduction import Folds


class _Chooses(Folds, ABC):
    """A reference whose reductions are those of a number model."""

    declared: ClassVar[dict[str, str]]

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return chosen(blocks, op, factor, self.declared)


class FlushesTermsAndResults(_Chooses):
    """Fast mathematics takes subnormal numbers for zeros and makes none, in every format."""

    breaks = "numerics.C13"
    declared: ClassVar = {"subnormals": "flushed"}


class FlushesTerms(_Chooses):
    """The processor's flag DAZ is set and FTZ is not: subnormal operands are zeros, and results are kept."""

    breaks = "numerics.C13"
    declared: ClassVar = {"subnormals": "flushed_terms"}


class FlushesResults(_Chooses):
    """The processor's flag FTZ is set and DAZ is not: subnormal results are zeros, and operands are kept."""

    breaks = "numerics.C13"
    declared: ClassVar = {"subnormals": "flushed_results"}


class SaturatesEverything(_Chooses):
    """Every conversion after an addition is the instruction's saturating form, which no infinity leaves."""

    breaks = "numerics.C14"
    declared: ClassVar = {"overflow": "saturated"}


class MeanByTheInverse(_Chooses):
    """The sum is multiplied by the inverse of the count, rounded to the dtype, because a division costs more."""

    breaks = "numerics.C16"
    declared: ClassVar = {"mean": "reciprocal"}


class MeanDividesFirst(_Chooses):
    """Every rank divides its block before it sends it, so that the sum cannot overflow."""

    breaks = "numerics.C16"
    declared: ClassVar = {"mean": "divided_terms"}


class MeanScalesFirst(_Chooses):
    """An average is a sum of blocks that are multiplied by the rounded inverse of the count, as in NCCL."""

    breaks = "numerics.C16"
    declared: ClassVar = {"mean": "scaled_terms"}


class MultipliesAndAddsAtOnce(_Chooses):
    """The compiler contracts a multiplication and the addition after it to one instruction that rounds once."""

    breaks = "numerics.C3"
    declared: ClassVar = {"multiply_add": "fused"}


class AddsInBfloat16(_Chooses):
    """Partial results of the 8-bit formats are kept in bfloat16 and rounded at the end."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "bfloat16"}


class AddsInFloat16(_Chooses):
    """Partial results of the 8-bit formats are kept in float16 and rounded at the end."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "float16"}


class AddsInFloat32(_Chooses):
    """Partial results of narrower formats are kept in float32 and rounded at the end, as matrix units do."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "float32"}


class AddsInFloat64(_Chooses):
    """Partial results of narrower formats are kept in float64 and rounded at the end, as C does with literals."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "float64"}


class AddsInRegisters(_Chooses):
    """Partial results stay in the 80-bit registers of x87 until they are stored."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "extended"}


class AddsExactly(_Chooses):
    """A superaccumulator keeps every bit of a partial result, so that the total is rounded once."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "exact"}


class AddsWhatWasLost(_Chooses):
    """A compensated sum adds up what its additions round off, as Kahan's and Neumaier's do."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "compensated"}


class SendsItsOwnDtype(_Chooses):
    """Nodes add in float32 and send each other sums in the dtype of the blocks."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "float32", "between": "own"}


class SendsBfloat16(_Chooses):
    """Nodes add in float32 and send each other sums of the 8-bit formats in bfloat16."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "float32", "between": "bfloat16"}


class SendsFloat16(_Chooses):
    """Nodes add in float32 and send each other sums of the 8-bit formats in float16."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "float32", "between": "float16"}


class SendsFloat32(_Chooses):
    """Nodes add in float64 and send each other sums of 16 bits and less in float32."""

    breaks = "numerics.C1"
    declared: ClassVar = {"accumulate": "float64", "between": "float32"}
