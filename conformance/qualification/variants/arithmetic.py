"""Number models: what an implementation may choose about numbers, chosen and declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import ml_dtypes
import numpy as np

from conformance.cases.declarations.number_model import Declared
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.qualification.model_reductions import compensated, rounded_once
from conformance.qualification.variants.folding import Folding, left, step
from conformance.reference.reductions import REDUCTIONS, by_real

HALVES: Final = ("float16", "bfloat16")
BYTES: Final = ("float8_e4m3fn", "float8_e5m2")


class _Plain(Folding):
    """Folds from the left, and chooses something about numbers."""

    kind = "number model"

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left(terms, op)


class _Wide(_Plain):
    """Accumulates in a wider format, by dtype, and rounds once at the end."""

    wider: ClassVar[dict[str, str]] = {}

    @property
    def number_model(self) -> Declared:
        return {"accumulate": self.wider}

    def format_of(self, term: Array) -> np.dtype[Any]:
        name = self.wider.get(logical(term.dtype), "")
        return np.dtype(np.longdouble) if name == "extended" else NUMPY.get(name, term.dtype)

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        form = self.format_of(terms[0])
        total = np.asarray(terms[0], form)
        for term in terms[1:]:
            total = np.asarray(REDUCTIONS["product" if op == "product" else "sum"](total, np.asarray(term, form)), form)
        return total if op == "mean" else np.asarray(total, terms[0].dtype)

    def divided(self, total: Array, count: int) -> Array:
        return by_real(np.divide, total, count)


class HalvesInSingles(_Wide):
    """Every GPU library adds float16 and bfloat16 in float32."""

    wider: ClassVar = dict.fromkeys(HALVES, "float32")


class BytesInSingles(_Wide):
    """float8 is added in float32."""

    wider: ClassVar = dict.fromkeys(BYTES, "float32")


class AllSmallInSingles(_Wide):
    """XLA on CPUs: whatever is narrower than float32 is added in it."""

    wider: ClassVar = dict.fromkeys((*HALVES, *BYTES), "float32")


class BytesInHalves(_Wide):
    """float8 is added in float16."""

    wider: ClassVar = dict.fromkeys(BYTES, "float16")


class SinglesInDoubles(_Wide):
    """A reproducible library adds float32 in float64."""

    wider: ClassVar = {"float32": "float64"}


class DoublesInExtended(_Wide):
    """x87 registers hold 64 significant bits."""

    wider: ClassVar = {"float64": "extended"}


class ExactSums(_Plain):
    """ReproBLAS and superaccumulators keep every bit, and round what all terms come to once."""

    number_model: ClassVar = {"accumulate": "exact"}

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        real = terms[0].dtype.kind != "c" and kind(logical(terms[0].dtype)) == "float"
        return rounded_once(terms, op == "product") if real else left(terms, op)


class CompensatedSums(_Plain):
    """math.fsum's cheaper kin: a sum that carries what each addition rounds off."""

    number_model: ClassVar = {"accumulate": "compensated"}

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        real = op != "product" and kind(logical(terms[0].dtype)) == "float"
        with np.errstate(all="ignore"):
            return compensated(terms) if real else left(terms, op)


class SentAsHalves(_Wide):
    """Two levels: members of one machine are added in float32, and what machines send is rounded to the dtype."""

    wider: ClassVar = dict.fromkeys(HALVES, "float32")

    @property
    def number_model(self) -> Declared:
        return {"accumulate": self.wider, "between": dict.fromkeys(self.wider, "own")}

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        form = self.format_of(terms[0])
        if form == terms[0].dtype:
            return left(terms, op)
        node = REDUCTIONS["product" if op == "product" else "sum"]
        parts = [terms[at : at + 2] for at in range(0, len(terms), 2)]
        sums = [
            np.asarray(part[0] if len(part) < 2 else node(np.asarray(part[0], form), np.asarray(part[1], form)))
            for part in parts
        ]
        sent = [np.asarray(np.asarray(each, terms[0].dtype), form) for each in sums]
        total = sent[0]
        for each in sent[1:]:
            total = np.asarray(node(total, each), form)
        return total if op == "mean" else np.asarray(total, terms[0].dtype)


class SentAsBytes(SentAsHalves):
    """float8 between machines, float32 inside."""

    wider: ClassVar = dict.fromkeys(BYTES, "float32")


class MeanByReciprocal(_Plain):
    """NCCL's average is a sum scaled by the rounded reciprocal of the count."""

    @property
    def number_model(self) -> Declared:
        return {"mean": "reciprocal"}

    def divided(self, total: Array, count: int) -> Array:
        if total.dtype.itemsize <= 2:
            return np.asarray(total.astype(np.float32) * np.float32(1 / count), total.dtype)
        return by_real(np.multiply, total, 1 / count)


class MeanOfQuotients(_Plain):
    """Each member divides what it sends by the count, so that no sum overflows."""

    @property
    def number_model(self) -> Declared:
        return {"mean": "divided_terms"}

    def folded(self, terms: Sequence[Array], op: str, factor: float, rank: int) -> Array:
        if op != "mean":
            return super().folded(terms, op, factor, rank)
        with np.errstate(all="ignore"):
            return np.asarray(left([self.divided(term, len(terms)) for term in terms], "sum"), terms[0].dtype)


class MeanOfScaledTerms(_Plain):
    """Each member scales what it sends by the rounded reciprocal."""

    @property
    def number_model(self) -> Declared:
        return {"mean": "scaled_terms"}

    def folded(self, terms: Sequence[Array], op: str, factor: float, rank: int) -> Array:
        if op != "mean":
            return super().folded(terms, op, factor, rank)
        with np.errstate(all="ignore"):
            inverse = np.asarray(1 / len(terms), terms[0].dtype if terms[0].dtype.kind != "c" else np.float64)
            return np.asarray(
                left([by_real(np.multiply, term, float(inverse)) for term in terms], "sum"), terms[0].dtype
            )


class FusedScale(_Plain):
    """A fused multiply-add scales and adds with one rounding."""

    @property
    def number_model(self) -> Declared:
        return {"multiply_add": {"float32": "fused", "float16": "fused", "bfloat16": "fused"}}

    def folded(self, terms: Sequence[Array], op: str, factor: float, rank: int) -> Array:
        if op != "premul_sum" or logical(terms[0].dtype) not in ("float32", "float16", "bfloat16"):
            return super().folded(terms, op, factor, rank)
        dtype = terms[0].dtype
        with np.errstate(all="ignore"):
            by = float(np.asarray(factor, dtype))
            total = by_real(np.multiply, terms[0], factor)
            for term in terms[1:]:
                # float64 holds the product of two float32 exactly, and longdouble the sum nearly so.
                exact = term.astype(np.longdouble) * by + total.astype(np.longdouble)
                total = np.asarray(exact.astype(np.float64), dtype)
        return total


class _Flushing(_Plain):
    """Subnormal numbers are zeros."""

    dtypes: ClassVar = ("float32",)
    word: ClassVar = "flushed"

    @property
    def number_model(self) -> Declared:
        return {"subnormals": dict.fromkeys(self.dtypes, self.word)}

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        total = terms[0]
        for term in terms[1:]:
            total = self._after(step(self._before(total), self._before(term), op))
        return np.array(total)

    def scaled(self, term: Array, factor: float) -> Array:
        return self._after(super().scaled(self._before(term), factor))

    def divided(self, total: Array, count: int) -> Array:
        return self._after(super().divided(self._before(total), count))

    def _before(self, term: Array) -> Array:
        flushes = self.word != "flushed_results" and logical(term.dtype) in self.dtypes
        return flushed(term) if flushes else term

    def _after(self, made: Array) -> Array:
        flushes = self.word != "flushed_terms" and logical(made.dtype) in self.dtypes
        return flushed(made) if flushes else made


class FlushesAll(_Flushing):
    """XLA's CPU kernels set FTZ and DAZ."""


class FlushesTerms(_Flushing):
    """DAZ alone."""

    word: ClassVar = "flushed_terms"


class FlushesResults(_Flushing):
    """FTZ alone, so that a partial sum that is subnormal is lost."""

    word: ClassVar = "flushed_results"


class Saturates(_Plain):
    """``cvt.rn.satfinite``: what is past the greatest float8 is the greatest."""

    @property
    def number_model(self) -> Declared:
        return {"overflow": dict.fromkeys(BYTES, "saturated")}

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        dtype = terms[0].dtype
        if logical(dtype) not in BYTES:
            return left(terms, op)
        most = float(ml_dtypes.finfo(dtype).max)
        node = np.multiply if op == "product" else np.add
        total = terms[0]
        for term in terms[1:]:
            exact = node(total.astype(np.float32), term.astype(np.float32))
            total = np.asarray(np.where(np.isnan(exact), exact, np.clip(exact, -most, most)), dtype)
        return np.array(total)


def flushed(values: Array) -> Array:
    """Return the values with zeros of their sign for subnormal ones."""
    normal = float(ml_dtypes.finfo(values.dtype).smallest_normal)
    return np.where(np.abs(values) < normal, np.copysign(np.zeros_like(values), values), values)
