"""Choices that are left to an implementation: sources differ, and one answer is only a *should*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.groups import partition
from conformance.reference.operations import all_reduce, arg_reduce, reduce, reduce_scatter


class _Choosing(Reference):
    """Computes the reductions that it chooses something about by ``chosen``, all others as the reference does."""

    ops = ("all_reduce", "reduce", "reduce_scatter")
    kind = "left open"

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        return ()

    def chooses(self, op: str, dtype: str) -> bool:
        """Return whether it has a choice of its own for a reduction of a dtype."""
        raise NotImplementedError

    def chosen(self, terms: Sequence[Array], op: str) -> Array:
        """Return the reduction of the terms of one rank."""
        raise NotImplementedError

    def all_reduce(self, blocks: list[Array], **how: Any) -> list[Any]:
        return self._again(all_reduce.all_reduce, all_reduce.terms, blocks, **how)

    def reduce(self, blocks: list[Array], **how: Any) -> list[Any]:
        return self._again(reduce.reduce, reduce.terms, blocks, **how)

    def reduce_scatter(self, blocks: list[Array], **how: Any) -> list[Any]:
        return self._again(reduce_scatter.reduce_scatter, reduce_scatter.terms, blocks, **how)

    def _again(
        self,
        meaning: Callable[..., list[Any]],
        terms_of: Callable[..., list[Any]],
        blocks: list[Array],
        *,
        op: str,
        factor: float = 1.0,
        **how: Any,
    ) -> list[Any]:
        out = meaning(blocks, op=op, factor=factor, **how)
        if not self.chooses(op, logical(blocks[0].dtype)):
            return out
        with np.errstate(all="ignore"):
            return [
                self.chosen(terms, op) if terms else made
                for made, terms in zip(out, terms_of(blocks, **how), strict=True)
            ]


class _OfBools(_Choosing):
    def chooses(self, op: str, dtype: str) -> bool:
        return dtype == "bool" and op in ("sum", "product")


class BoolsAddUpToAny(_OfBools):
    """MPI and Torch keep bool: a sum is a disjunction, and a product a conjunction."""

    def chosen(self, terms: Sequence[Array], op: str) -> Array:
        return np.asarray((np.logical_or if op == "sum" else np.logical_and).reduce(list(terms)))


class BoolsAreCountedInInt64(_OfBools):
    """NumPy counts bools in its default integer."""

    def chosen(self, terms: Sequence[Array], op: str) -> Array:
        wide = [term.astype(np.int64) for term in terms]
        return np.asarray((np.add if op == "sum" else np.multiply).reduce(wide))


class _IntegerMeans(_Choosing):
    def chooses(self, op: str, dtype: str) -> bool:
        return kind(dtype) == "integer" and op == "mean"

    def chosen(self, terms: Sequence[Array], op: str) -> Array:
        return self.divided(np.asarray(sum(terms[1:], start=np.asarray(terms[0])), terms[0].dtype), len(terms))

    def divided(self, total: Array, count: int) -> Array:
        raise NotImplementedError


class IntegerMeansInSingles(_IntegerMeans):
    """JAX in its default mode divides the wrapped sum of integers in float32."""

    def divided(self, total: Array, count: int) -> Array:
        return np.asarray(total.astype(np.float32) / np.float32(count))


class IntegerMeansAreCut(_IntegerMeans):
    """A mean of integers is an integer, cut towards zero."""

    def divided(self, total: Array, count: int) -> Array:
        down = total // count
        return np.asarray(down + ((total < 0) & (down * count != total)), total.dtype)


class _Extremes(_Choosing):
    def chooses(self, op: str, dtype: str) -> bool:
        return kind(dtype) == "float" and op in ("max", "min")

    def chosen(self, terms: Sequence[Array], op: str) -> Array:
        found = terms[0]
        for term in terms[1:]:
            better = term > found if op == "max" else term < found
            found = np.where(self.replaces(term, found, better), term, found)
        return np.array(found, terms[0].dtype)

    def replaces(self, term: Array, found: Array, better: Array) -> Array:
        raise NotImplementedError


class NumbersBeforeNaN(_Extremes):
    """C's ``fmax`` and ``fmin``: a NaN is missing data, and any number is greater, or less."""

    def replaces(self, term: Array, found: Array, better: Array) -> Array:
        return np.asarray(better | np.isnan(found))


class FirstOfTwoZeros(_Extremes):
    """``a < b ? b : a`` keeps the zero that comes first, whatever its sign; a NaN wins."""

    def replaces(self, term: Array, found: Array, better: Array) -> Array:
        return np.asarray((better | np.isnan(term)) & ~np.isnan(found))


class SumsBeginAtZero(_Choosing):
    """An accumulator begins at +0.0, so that nothing but negative zeros adds up to +0.0."""

    def chooses(self, op: str, dtype: str) -> bool:
        return kind(dtype) == "float" and op == "sum"

    def chosen(self, terms: Sequence[Array], op: str) -> Array:
        total = np.zeros_like(terms[0])
        for term in terms:
            total = np.asarray(total + term, term.dtype)
        return total


class PositionOfTheNaN(Reference):
    """NumPy's and Torch's ``argmax``: a NaN is the greatest and the least, and its position is found."""

    kind = "left open"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = arg_reduce.arg_reduce(blocks, op=op, groups=groups)
        if kind(logical(blocks[0].dtype)) != "float":
            return out
        for group in partition(groups, len(blocks)):
            missing = np.isnan(np.stack([blocks[member] for member in group]))
            for rank in group:
                out[rank] = np.where(missing.any(axis=0), missing.argmax(axis=0), out[rank]).astype(np.int32)
        return out
