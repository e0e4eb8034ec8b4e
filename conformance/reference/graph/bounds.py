"""How many roundings of what magnitude a computed value is off by at most: ``k`` and ``m`` of ``slack``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.reference.graph.collective_bounds import received_bound
from conformance.reference.graph.nodes import axes_of
from conformance.reference.graph.product_bounds import COMPLEX_PRODUCT, product_bound
from conformance.reference.graph.rounding import UNKNOWN, Span, wild
from conformance.reference.graph.rounding_operations import open_cast, unsettled

Reals = NDArray[np.float64]
Bits = NDArray[np.uint16]
Bound = tuple[Reals, Reals]
"""``k`` and ``m``."""

Ends = Callable[[], tuple[Reals, Reals]]
"""Makes the least and the greatest right value of each element."""

COMPLEX_QUOTIENT: Final = 16.0
"""The same of a quotient, by the textbook, by Smith's algorithm or by a reciprocal: a product, the square of a
magnitude and a division. No source bounds all three; random quotients keep within it (``test_complex_freedom``)."""

ROOT: Final = 6.0
"""Roundings that 3 units in the last place are: what OpenCL C 3.0, 7.4, asks of a float32 square root at least."""

FUNCTION: Final = 8.0
"""The same of exp2, log2 and sin: 4 units in the last place, the widest of the table in OpenCL C 3.0, 7.4."""


@dataclass(frozen=True)
class Slack:
    """What is known of each element of a value: bits of ``rounding`` and ``SUBNORMAL``, ``k`` and ``m``, and spans.

    ``worked_out`` makes ``k`` and ``m``, which few values are asked for. ``depth`` is how many values are made of each
    other that wait for it. ``ends`` makes the least and the greatest right value, where those are known more narrowly.
    """

    mask: Bits
    worked_out: Callable[[], Bound]
    span: Span | None = None
    depth: int = 0
    ends: Ends | None = None

    @cached_property
    def bits(self) -> int:
        """Return the bits that some element has."""
        return int(np.bitwise_or.reduce(self.mask, axis=None)) if np.count_nonzero(self.mask) else 0

    @cached_property
    def bound(self) -> Bound:
        """Return ``k`` and ``m``."""
        return self.worked_out()

    @property
    def k(self) -> Reals:
        """Return how many roundings each element is off by at most."""
        return self.bound[0]

    @property
    def m(self) -> Reals:
        """Return the magnitude that these are roundings of."""
        return self.bound[1]


DEEPEST: Final = 50
"""Values that may wait for each other: some seven calls each, of the 1,000 that Python lets be under way."""


def slack_after(
    of: Sequence[Slack], mask: Bits, worked_out: Callable[[], Bound], span: Span | None = None, ends: Ends | None = None
) -> Slack:
    """Return the slack of a value that is made of others, by whose bounds its own is worked out."""
    depth = 1 + max((each.depth for each in of), default=0)
    ends = ends and cache(ends)
    if depth <= DEEPEST:
        return Slack(mask, worked_out, span, depth, ends)
    bound, found = worked_out(), ends and ends()
    return Slack(mask, lambda: bound, span, ends=found and (lambda: found))


def ends_of(slack: Slack) -> tuple[Reals, Reals]:
    """Return the least and the greatest right value, infinite ones where nothing is known but ``k`` and ``m``."""
    nothing = np.full(slack.mask.shape, np.inf)
    return slack.ends() if slack.ends else (-nothing, nothing)


@cache
def unit_roundoff(dtype: str) -> float:
    """Return the unit roundoff of a dtype of floats."""
    return float(2.0 ** -(ml_dtypes.finfo(NUMPY[dtype]).nmant + 1))


def magnitudes(values: Array) -> Reals:
    """Return the magnitudes of values, as float64."""
    if values.dtype.kind in "biu":
        # No such conversion can be invalid, and to say so costs as much as to convert.
        return np.asarray(np.abs(values.astype(np.float64)))
    with np.errstate(all="ignore"):
        wide = values if np.iscomplexobj(values) else values.astype(np.float64)
        return np.asarray(np.abs(wide), np.float64)


def bounds(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Bound:
    """Return ``k`` and ``m`` of a node."""
    floats = kind(logical(made.dtype)) in ("float", "complex")
    with np.errstate(all="ignore"):
        if node.op == "alu" and floats:
            return _elementwise(_Applied(str(node.arg), of, known, made))
        if node.op == "cast" and floats:
            return _cast(node, of[0], known[0], made)
        if node.op in ("reduce", "all_reduce") and floats:
            return _folded(node, of, known, made)
        if node.op == "collective" and floats:
            return received_bound(node, of, [each.k for each in known], [each.m for each in known], made)
    # Whole numbers, and what is no arithmetic: known to the last bit, or not at all (``_plain``).
    return np.where(_any_unknown(known, made), np.inf, 0.0), magnitudes(made)


def _any_unknown(known: Sequence[Slack], made: Array) -> NDArray[np.bool_]:
    unknown = [(each.mask & UNKNOWN) > 0 for each in known]
    if any(each.shape != made.shape for each in unknown):
        return np.full(made.shape, any(each.any() for each in unknown))
    return np.asarray(np.logical_or.reduce(unknown))


def _cast(node: Node, value: Array, known: Slack, made: Array) -> Bound:
    here, there = logical(value.dtype), node.dtype
    if kind(here) not in ("float", "complex"):
        return np.where((known.mask & UNKNOWN) > 0, np.inf, 1.0), magnitudes(made)
    several = open_cast(value, there)
    # By way of another dtype a tie may be one of subnormal numbers, which lie as far apart as the least normal ones.
    normal = float(ml_dtypes.finfo(made.dtype).smallest_normal)
    m = np.where(several & (known.m > 0), np.maximum(known.m, normal), known.m)
    share = np.where(m > 0, known.m / np.where(m > 0, m, 1.0), 1.0)
    k = known.k * share * unit_roundoff(here) / unit_roundoff(there) + 1.0
    return np.where(several & ~np.isfinite(magnitudes(made)), np.inf, k), m


@dataclass(frozen=True)
class _Applied:
    """An elementwise operation on floats, what its operands are worth, what is known of them, and what it gives."""

    op: str
    of: Sequence[Array]
    known: Sequence[Slack]
    made: Array


def _elementwise(it: _Applied) -> Bound:
    """Return ``k`` and ``m`` of an elementwise operation on floats that gives floats."""
    return _OPERATIONS.get(it.op, _of_function)(it)


def _sum(it: _Applied) -> Bound:
    u, sizes = unit_roundoff(logical(it.made.dtype)), magnitudes(it.made)
    lost = np.where(sizes > 0, _nearly_nothing(it.made) / (u * sizes), 0.0)
    return it.known[0].k + it.known[1].k + 1.0 + lost, it.known[0].m + it.known[1].m


def _product(it: _Applied) -> Bound:
    u, m = unit_roundoff(logical(it.made.dtype)), it.known[0].m * it.known[1].m
    lost = np.where(m > 0, _nearly_nothing(it.made) / (u * m), 0.0)
    own = COMPLEX_PRODUCT if it.made.dtype.kind == "c" else 1.0
    return np.where(_wild(it), np.inf, it.known[0].k + it.known[1].k + own + lost), m


def _wild(it: _Applied) -> NDArray[np.bool_]:
    """Return where another order of the factors may overflow on the way, and make a zero NaN or a number infinite."""
    return wild(it.of, [each.mask.astype(np.uint8) for each in it.known])


def _quotient(it: _Applied) -> Bound:
    u, sizes = unit_roundoff(logical(it.made.dtype)), magnitudes(it.made)
    error = it.known[-1].k * u * it.known[-1].m
    least = magnitudes(it.of[-1]) - error
    top, moved = (it.known[0].m, it.known[0].k * u * it.known[0].m) if it.op == "div" else (1.0, 0.0)
    m = np.maximum(top / least, sizes)
    spread = (moved + sizes * error) / least + _nearly_nothing(it.made)
    known = (least > 0.5 * magnitudes(it.of[-1])) & ((it.op == "recip") | ~_reciprocal_lost(it.of[-1])) & ~_wild(it)
    own = COMPLEX_QUOTIENT if it.made.dtype.kind == "c" else 4.0
    return np.where(known & ~_squares_lost(it), spread / (u * m) + own, np.inf), m


def _squares_lost(it: _Applied) -> NDArray[np.bool_]:
    """Return where a complex quotient may overflow or vanish on the way: the magnitude of the divisor is squared."""
    divisor, top = magnitudes(it.of[-1]), magnitudes(it.of[0]) if it.op == "div" else 1.0
    if it.made.dtype.kind != "c":
        return np.zeros(it.made.shape, np.bool_)
    info = ml_dtypes.finfo(it.made.dtype)
    least, most = float(info.smallest_normal), float(info.max) / 4
    sizes = np.stack(np.broadcast_arrays(divisor**2, divisor * top))
    return np.asarray((((sizes < least) & (sizes > 0)) | (sizes > most)).any(axis=0))


def _reciprocal_lost(divisor: Array) -> NDArray[np.bool_]:
    """Return where a quotient that is a product with the reciprocal may be anything: that overflows, or is subnormal.

    OpenCL C 3.0, 7.4, bounds such a quotient for divisors from 2**-62 to 2**62 alone, where math is relaxed.
    """
    info, sizes = ml_dtypes.finfo(divisor.dtype), magnitudes(divisor)
    lost = (1.0 / sizes > float(info.max)) | (1.0 / sizes < float(info.smallest_normal))
    return np.asarray(lost & (sizes > 0) & np.isfinite(sizes))


def _chosen(it: _Applied) -> Bound:
    k = np.where(it.of[0], it.known[1].k, it.known[2].k)
    return np.where((it.known[0].mask & UNKNOWN) > 0, np.inf, k), np.where(it.of[0], it.known[1].m, it.known[2].m)


def _extreme(it: _Applied) -> Bound:
    return np.maximum(it.known[0].k, it.known[1].k), np.maximum(it.known[0].m, it.known[1].m)


def _of_function(it: _Applied) -> Bound:
    u, sizes = unit_roundoff(logical(it.made.dtype)), magnitudes(it.made)
    inexact = np.asarray(np.logical_or.reduce([(each.mask & UNKNOWN) > 0 for each in it.known]))
    if it.op == "mod":
        inexact |= unsettled(it.op, it.of, it.made)
    spread, own = _function(it.op, it.of[0].astype(np.float64), it.known[0].k * u * it.known[0].m, sizes, inexact, u)
    m = np.maximum(sizes + spread, 1.0 if it.op == "sin" else 0.0)
    return (spread + _nearly_nothing(it.made)) / np.where(m > 0, u * m, 1.0) + own, m


def _function(
    op: str, value: Reals, error: Reals, sizes: Reals, inexact: NDArray[np.bool_], u: float
) -> tuple[Reals, float]:
    """Return how far the value of a function moves with its operand, and how many roundings it makes itself.

    The operand is off by its error, and for exp2 and sin by a rounding or two of its own: they are computed of a
    product with a constant.
    """
    least = value - error
    if op == "sqrt":
        return np.where(inexact, np.where(least > 0, error / (2.0 * np.sqrt(least)), np.inf), 0.0), ROOT
    if op == "log2":
        return np.where(inexact, np.where(least > 0, error / (least * math.log(2.0)), np.inf), 0.0), FUNCTION
    if op == "exp2":
        return sizes * np.expm1(math.log(2.0) * (error + 2.0 * u * np.abs(value))), FUNCTION
    if op == "sin":
        return error + 2.0 * u * np.abs(value), FUNCTION
    if op == "trunc":
        return np.where(inexact, error + 1.0, 0.0), 1.0
    # mod jumps, by as much as its second operand.
    return np.where(inexact, np.inf, 0.0), 1.0


def _nearly_nothing(made: Array) -> Reals:
    """Return what a result loses whose neighbourhood has subnormal numbers: they are flushed, or coarser."""
    normal = float(ml_dtypes.finfo(made.dtype).smallest_normal)
    size = magnitudes(made)
    return np.where(size < 4.0 * normal, np.where(size > 0, normal, 0.0), 0.0)


def _folded(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Bound:
    if node.op == "reduce":
        axes: tuple[int, ...] = axes_of(node)
        k, m, values = known[0].k, known[0].m, magnitudes(of[0])
    else:
        axes = (0,)
        k, m = np.stack([each.k for each in known]), np.stack([each.m for each in known])
        values = np.stack([magnitudes(each) for each in of])
    count = math.prod(m.shape[axis] for axis in axes)
    steps = float(max(count - 1, 0))
    if not m.size:
        return np.zeros(made.shape), magnitudes(made)
    if node.fold == "add":
        return np.asarray(k.max(axis=axes) + steps), np.asarray(m.sum(axis=axes))
    if node.fold == "mul":

        def folded(each: Reals, op: str) -> Reals:
            return np.asarray(each.prod(axis=axes) if op == "product" else each.sum(axis=axes))

        found: Bound = product_bound(count, k, m, values, made.dtype, folded)
        return found
    return np.asarray(k.max(axis=axes)), np.asarray(m.max(axis=axes))


_OPERATIONS: Final[Mapping[str, Callable[[_Applied], Bound]]] = {
    "add": _sum,
    "sub": _sum,
    "mul": _product,
    "div": _quotient,
    "recip": _quotient,
    "neg": lambda it: (it.known[0].k, it.known[0].m),
    "abs": lambda it: (it.known[0].k, it.known[0].m),
    "max": _extreme,
    "min": _extreme,
    "where": _chosen,
}
