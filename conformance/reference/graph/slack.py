"""How far apart right values of a computed node may be, element by element.

Every operation rounds to its dtype, and one rounded result of exact operands is the right one. Beyond that no source
fixes an order: a sum of several terms may be associated otherwise, a product and a sum may round once together, a
reduction may fold in any order and in a wider dtype. ``reference.schedule.rounding`` says where any of that can show
(``UNKNOWN``); elsewhere there is one right value.

Where it can show, right values are within a bound. ``m`` is at least the sum of the magnitudes of the terms that a
value is made of, and no admitted computation makes more than ``k`` roundings of that: each is off by ``k * u * m`` at
most, where ``u`` is the unit roundoff of its dtype (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
chapters 3 and 4). Two right values are twice as far apart. An infinite ``k`` says that nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import ml_dtypes
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.cases.graph.graph import Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.reference.graph.bounds import Reals, Slack, bounds, magnitudes, unit_roundoff
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.nodes import axes_of
from conformance.reference.schedule.rounding import UNKNOWN, Mask, rounded, summed

SUBNORMAL: Final = 64
"""A bit of a mask: an operation took or gave a subnormal number on the way."""

OPEN: Final = 128
"""A bit of a mask: what it is made of is right to the last bit, and several results of the operation itself are."""

_INHERITED: Final = np.uint8(255 - SUBNORMAL - OPEN)

VACUOUS: Final = 0.125
"""Relative errors above which bounds of first order say nothing."""


def exact(values: Array) -> Slack:
    """Return the slack of given values: none."""
    return Slack(np.zeros(values.shape, np.uint8), np.zeros(values.shape), magnitudes(values))


def radius(slack: Slack, made: Array) -> Reals:
    """Return how far a right value may be from ``made``, where several are right; infinity where nothing is known."""
    if kind(logical(made.dtype)) != "float":
        return np.full(made.shape, np.inf)
    with np.errstate(all="ignore"):
        found = 2.0 * slack.k * unit_roundoff(logical(made.dtype)) * slack.m
    return np.where(np.isfinite(made.astype(np.float64)) & np.isfinite(found), found, np.inf)


def slack_of(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Slack:
    """Return the slack of a computed node from what its sources are worth, and what is known of them."""
    if node.op in ("contig", "copy"):
        return known[0]
    if node.op == "gather":
        return _gathered(node, of, known)
    if node.op == "alu" and len({each.dtype for each in of}) > 1:
        of, known = _alike(node, of, known)
    if node.op == "reduce" and node.acc:
        wide = replace(node, dtype=node.acc, acc="")
        terms, first = _converted(of[0], known[0], node.acc)
        with np.errstate(all="ignore"):
            total = made.astype(NUMPY[node.acc])
        return _converted(total, _plain(wide, [terms], [first], total), node.dtype)[1]
    return _plain(node, of, known, made)


def _plain(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Slack:
    spans = [each.span for each in known]
    span = summed(node, of, spans)
    chain = span if any(each is not None for each in spans) else None
    mask = rounded(node, of, [each.mask & _INHERITED for each in known], made, chain)
    bits = np.zeros(made.shape, np.uint8) if mask is None else np.array(mask)
    bits |= _approximated(node, of, made)
    k, m = bounds(node, of, known, made)
    bits |= _subnormal(node, of, known, made)
    unknown = (bits & UNKNOWN) > 0
    if node.op == "alu":
        before = np.logical_or.reduce([(each.mask & UNKNOWN) > 0 for each in known])
        bits |= np.where(unknown & ~before, np.uint8(OPEN), np.uint8(0))
    with np.errstate(all="ignore"):
        floats = kind(logical(made.dtype)) == "float"
        vacuous = k * unit_roundoff(logical(made.dtype)) > VACUOUS if floats else unknown
        most = float(ml_dtypes.finfo(made.dtype).max) if floats else np.inf
        k = np.where(unknown & (vacuous | ~(m < most / 4) | np.isnan(k)), np.inf, k)
    return Slack(bits, k, m, span)


def _approximated(node: Node, of: Sequence[Array], made: Array) -> Mask:
    """Return the bit of finite results of exp2 and log2: no source has them exact but where exp and log are."""
    if node.op != "alu" or node.arg not in ("exp2", "log2"):
        return np.zeros(made.shape, np.uint8)
    exact_at = 0.0 if node.arg == "exp2" else 1.0
    finite = np.isfinite(of[0].astype(np.float64)) & np.isfinite(made.astype(np.float64))
    return np.where(finite & (of[0] != exact_at), np.uint8(UNKNOWN), np.uint8(0))


def _alike(node: Node, of: Sequence[Array], known: Sequence[Slack]) -> tuple[list[Array], list[Slack]]:
    """Return the operands of an elementwise operation in the dtype that they are promoted to."""
    first = 1 if node.arg == "where" else 0
    joined = promoted([logical(each.dtype) for each in of[first:]]) or logical(of[-1].dtype)
    pairs = [_converted(each, slack, joined) for each, slack in zip(of[first:], known[first:], strict=True)]
    return [*of[:first], *(each for each, _ in pairs)], [*known[:first], *(slack for _, slack in pairs)]


def _converted(values: Array, known: Slack, dtype: str) -> tuple[Array, Slack]:
    """Return values in another dtype, and what is known of them."""
    if logical(values.dtype) == dtype:
        return values, known
    made = cast(values, dtype)
    node = Node(id="", op="cast", of=("",), shape=(), dtype=dtype, device="")
    return made, _plain(node, [values], [known], made)


def _gathered(node: Node, of: Sequence[Array], known: Sequence[Slack]) -> Slack:
    """Return the slack of what indices number: nothing is known where an index is not, or is out of range."""
    axis, data = int(str(node.arg)), known[0]
    extent = of[0].shape[axis]
    index = of[1].astype(np.int64)
    shape = (*of[0].shape[:axis], *of[1].shape, *of[0].shape[axis + 1 :])
    if not extent:
        return Slack(np.full(shape, UNKNOWN, np.uint8), np.full(shape, np.inf), np.zeros(shape))
    at = np.clip(index, 0, extent - 1)
    inside = (known[1].mask & UNKNOWN) == 0
    open_ = ~inside | (index != at)
    lead = open_.reshape((1,) * axis + open_.shape + (1,) * (of[0].ndim - axis - 1))
    mask, k, m = (np.take(each, at, axis=axis) for each in (data.mask, data.k, data.m))
    beyond = np.where(inside.reshape(lead.shape), np.uint8(UNKNOWN | OPEN), np.uint8(UNKNOWN))
    return Slack(np.where(lead, beyond, mask).astype(np.uint8), np.where(lead, np.inf, k), np.asarray(m, np.float64))


def _subnormal(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Mask:
    """Return the bit of what is made of subnormal numbers, or of what was."""
    here = [(each.mask & SUBNORMAL) > 0 for each in known]
    if node.op in ("alu", "cast", "reduce", "all_reduce"):
        here = [each | _is_subnormal(value) for each, value in zip(here, of, strict=True)]
    if node.op == "reduce":
        found = np.logical_or.reduce(here[0], axis=axes_of(node))
    elif node.op == "collective":
        found = np.full(made.shape, any(each.any() for each in here))
    else:
        found = np.logical_or.reduce(here)
    return np.where(np.asarray(found) | _is_subnormal(made), np.uint8(SUBNORMAL), np.uint8(0))


def _is_subnormal(values: Array) -> NDArray[np.bool_]:
    if kind(logical(values.dtype)) != "float":
        return np.zeros(values.shape, np.bool_)
    size = magnitudes(values)
    return np.asarray((size > 0) & (size < float(ml_dtypes.finfo(values.dtype).smallest_normal)))
