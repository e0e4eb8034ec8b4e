"""What a sum that is not yet folded over devices leaves open, element by element.

Whoever keeps the terms of a sum apart may do to each what is linear in the sum: add to it, multiply or divide it,
round it to another dtype. Where none of that rounds, whatever the terms are, there is one right value; elsewhere right
values are within a bound that has some more roundings (``reference.graph.slack``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.exactness import unit
from conformance.reference.graph.bounds import Slack, ends_of, unit_roundoff
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.graph.movement import moved
from conformance.reference.graph.nodes import axes_of
from conformance.reference.graph.rounding import UNKNOWN

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Terms:
    """Of each element: the power of two that all its terms are multiples of, and the sum of their magnitudes."""

    grid: Reals
    size: Reals


@dataclass
class Pending:
    """Which values may be sums that are still to be folded over so many devices, by node."""

    devices: int
    terms: dict[str, Terms] = field(default_factory=dict)

    def widened(self, node: Node, of: Sequence[BoundedValue], made: BoundedValue) -> BoundedValue:
        """Return what a computed node means to whoever folds late."""
        terms = self._terms(node, [each.array for each in of], made.array)
        if terms is None:
            return made
        self.terms[node.id] = terms
        return BoundedValue(made.array, _opened(made, terms, self.devices)) if node.op not in _KEPT else made

    def _terms(self, node: Node, of: Sequence[Array], made: Array) -> Terms | None:
        """Return the terms of a node, ``None`` where it is no sum that may still be pending."""
        known = [self.terms.get(name) for name in node.of]
        folded = node.op == "reduce" and node.fold == "add"
        if kind(logical(made.dtype)) != "float" or not (folded or any(each is not None for each in known)):
            return None
        with np.errstate(all="ignore"):
            if folded:
                return _summed(known[0] or _own(of[0]), axes_of(node))
            if node.op == "alu" and any(known):
                pairs = zip(known, of, strict=True)
                return _arithmetic(str(node.arg), [each or _own(value) for each, value in pairs], of, known)
            first = known[0]
            if first is not None and node.op in MOVEMENT:
                return Terms(moved(node, first.grid, np.inf, {}), moved(node, first.size, 0, {}))
            return first if node.op in (*_KEPT, "cast") else None


_KEPT: Final = ("contig", "copy", "detach", *MOVEMENT)


def _own(value: Array) -> Terms:
    size = np.abs(value.astype(np.float64))
    return Terms(unit(size), np.where(np.isfinite(size), size, 0.0))


def _summed(terms: Terms, axes: tuple[int, ...]) -> Terms:
    return Terms(np.min(terms.grid, axis=axes, initial=np.inf), np.sum(terms.size, axis=axes))


def _arithmetic(op: str, terms: Sequence[Terms], of: Sequence[Array], known: Sequence[Terms | None]) -> Terms | None:
    if op == "neg":
        return known[0]
    if op in ("add", "sub"):
        return Terms(np.minimum(terms[0].grid, terms[1].grid), terms[0].size + terms[1].size)
    if op == "mul":
        # A factor that is no number, or infinite, makes NaNs of terms that have none together.
        endless = ~np.isfinite(of[0].astype(np.float64)) | ~np.isfinite(of[1].astype(np.float64))
        grid = np.where(endless, 0.0, terms[0].grid * terms[1].grid)
        return Terms(grid, np.where(endless, np.inf, terms[0].size * terms[1].size))
    if op == "div" and known[0] is not None:
        below = np.abs(of[1].astype(np.float64))
        plain = np.isfinite(below) & (below > 0)
        exact = plain & (unit(below) == below)
        size = np.where(plain, terms[0].size / below, np.inf)
        return Terms(np.where(exact, terms[0].grid / below, 0.0), size)
    return None


def _opened(made: BoundedValue, terms: Terms, devices: int) -> Slack:
    """Return the slack of a value some of whose terms may round on their own.

    Terms kept apart add two roundings a device at most: one of each term to the dtype, and one of each sum of them.
    """
    info = ml_dtypes.finfo(made.array.dtype)
    least = float(info.smallest_subnormal)
    with np.errstate(all="ignore"):
        exact = (terms.size <= terms.grid * 2.0 ** (info.nmant + 1)) & (terms.size <= float(info.max))
        exact &= (terms.grid >= least) | (terms.size == 0)
        finite = np.isfinite(made.array.astype(np.float64))
        before = made.slack
        fresh = ~exact & ((before.mask & np.uint16(UNKNOWN)) == 0)
        # A sum that has an infinity or a NaN among its terms is what these say, but where a factor may undo it.
        fresh &= finite | ~np.isfinite(terms.size)
        size = np.maximum(before.m, terms.size)
        wild = ~(size < float(info.max) / 4) | ~finite
        k = np.where(~exact, np.where(wild, np.inf, before.k + 2.0 * devices), before.k)
    mask = before.mask | np.where(fresh, np.uint16(UNKNOWN), np.uint16(0))
    bound = np.where(np.isnan(k), np.inf, k), np.where(~exact, size, before.m)

    def ends() -> tuple[Reals, Reals]:
        u = unit_roundoff(logical(made.array.dtype))
        more = np.where(exact, 0.0, np.where(wild, np.inf, 2.0 * devices * u * size))
        low, high = ends_of(before)
        return low - more, high + more

    return Slack(mask, lambda: bound, before.span, ends=before.ends and ends)
