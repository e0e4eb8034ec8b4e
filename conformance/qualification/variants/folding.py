"""Reductions of floats folded in another way than from the left in rank order: the base of many variants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.operations import all_reduce, reduce, reduce_scatter
from conformance.reference.reductions import REDUCTIONS, by_real, quotient

FOLDED = ("sum", "product", "mean", "premul_sum")


class Folding(Reference, ABC):
    """Folds the terms of each rank by ``total``, scales them before and divides the total after, in its own way."""

    ops = ("all_reduce", "reduce", "reduce_scatter")
    kind: ClassVar[str] = "algorithm"

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Promise nothing of the order."""
        return ()

    @abstractmethod
    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        """Return the sum or product of terms, each partial result in the dtype of the terms."""

    def scaled(self, term: Array, factor: float) -> Array:
        """Return a term times the factor of a premul_sum."""
        return by_real(np.multiply, term, factor)

    def divided(self, total: Array, count: int) -> Array:
        """Return a total divided by the count of a mean."""
        return quotient(total, count)

    def folded(self, terms: Sequence[Array], op: str, factor: float, rank: int) -> Array:
        """Return the reduction of the terms that one rank receives."""
        with np.errstate(all="ignore"):
            scaled = [self.scaled(term, factor) for term in terms] if op == "premul_sum" else list(terms)
            total = self.total(scaled, op, rank)
            return np.asarray(self.divided(total, len(terms)) if op == "mean" else total, terms[0].dtype)

    def all_reduce(
        self, blocks: list[Array], *, op: str, factor: float = 1.0, groups: Groups, **how: Any
    ) -> list[Array]:
        """Return the reductions."""
        out = all_reduce.all_reduce(blocks, op=op, factor=factor, groups=groups, **how)
        return self._again(out, all_reduce.terms(blocks, groups=groups, **how), op, factor)

    def reduce(self, blocks: list[Array], *, op: str, factor: float = 1.0, groups: Groups, **how: Any) -> list[Any]:
        """Return the reductions, on the roots."""
        out = reduce.reduce(blocks, op=op, factor=factor, groups=groups, **how)
        return self._again(out, reduce.terms(blocks, groups=groups, **how), op, factor)

    def reduce_scatter(
        self, blocks: list[Array], *, op: str, factor: float = 1.0, groups: Groups, **how: Any
    ) -> list[Array]:
        """Return the pieces of the reductions."""
        out = reduce_scatter.reduce_scatter(blocks, op=op, factor=factor, groups=groups, **how)
        return self._again(out, reduce_scatter.terms(blocks, groups=groups, **how), op, factor)

    def _again(self, out: list[Any], terms: Sequence[Any], op: str, factor: float) -> list[Any]:
        if (
            op not in FOLDED
            or not any(terms)
            or kind(logical(next(filter(None, terms))[0].dtype)) not in ("float", "complex")
        ):
            return out
        pairs = enumerate(zip(out, terms, strict=True))
        return [self.folded(mine, op, factor, rank) if mine else made for rank, (made, mine) in pairs]


def step(one: Array, other: Array, op: str) -> Array:
    """Return one addition or multiplication, rounded to the dtype of its terms."""
    made = REDUCTIONS["product" if op == "product" else "sum"](one, other)
    return np.asarray(made, one.dtype)


def left(terms: Sequence[Array], op: str) -> Array:
    """Return the terms folded from the left."""
    total = np.array(terms[0])
    for term in terms[1:]:
        total = step(total, term, op)
    return total


def halves(terms: Sequence[Array], op: str, most: int = 2) -> Array:
    """Return the terms folded by a tree whose nodes have ``most`` children."""
    if len(terms) == 1:
        return np.array(terms[0])
    size = -(-len(terms) // most)
    return left([halves(terms[at : at + size], op, most) for at in range(0, len(terms), size)], op)
