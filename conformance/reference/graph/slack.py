"""How far apart right values of a computed node may be, element by element.

Every operation rounds to its dtype, and one rounded result of exact operands is the right one. Beyond that no source
fixes an order: a sum of several terms may be associated otherwise, a product and a sum may round once together, a
reduction may fold in any order and in a wider dtype. ``reference.graph.rounding`` says where any of that can show
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
from conformance.reference.graph.bounds import (
    Bits,
    Bound,
    Reals,
    Slack,
    bounds,
    ends_of,
    magnitudes,
    slack_after,
    unit_roundoff,
)
from conformance.reference.graph.carried import CARRIED, CHOSEN, bit_of, carried
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.long_sums import long_sums
from conformance.reference.graph.nodes import axes_of, beside_elements, nearest
from conformance.reference.graph.product_bounds import TWICE
from conformance.reference.graph.rounding import BESIDE, PRODUCT, ROUNDED, UNKNOWN, Span, rounded, summed
from conformance.reference.reductions import ARITHMETIC

Where = NDArray[np.bool_]

OPEN: Final = 512
"""A bit of a mask: what it is made of is right to the last bit, and several results of the operation itself are."""

OUTSIDE: Final = 128
"""A bit of a mask: a gather took it by an index that is known, and is no element's."""

_ITSELF: Final = ("sqrt", "div", "recip", "exp2", "log2", "sin", "shl", "shr")
"""The operations of which some results are ``OPEN``."""

_OPEN_TO_INTEGERS: Final = ("div", "mod", "shl", "shr")
"""The operations of which some whole numbers have no result, or several."""

_WHOLE: Final = "biu"
"""What NumPy calls dtypes of whole numbers, bool among them."""

VACUOUS: Final = 0.125
"""Relative errors above which bounds of first order say nothing; sums of given terms have another (``long_sums``)."""


def exact(values: Array) -> Slack:
    """Return the slack of given values: none."""
    return Slack(np.zeros(values.shape, np.uint16), lambda: (np.zeros(values.shape), magnitudes(values)))


def unsettled(slack: Slack) -> bool:
    """Return whether some right implementation may have another value."""
    return bool(slack.bits & (UNKNOWN | BESIDE | CHOSEN))


def radius(slack: Slack, made: Array) -> Reals:
    """Return how far a right value may be from ``made``, where several are right; infinity where nothing is known."""
    if kind(logical(made.dtype)) not in ("float", "complex"):
        return np.full(made.shape, np.inf)
    with np.errstate(all="ignore"):
        found = 2.0 * slack.k * unit_roundoff(logical(made.dtype)) * slack.m
        if slack.ends is not None and not np.isfinite(found).all():
            low, high = slack.ends()
            value = made.astype(np.float64)
            found = np.where(np.isfinite(found), found, np.maximum(high - value, value - low))
    return np.where(np.isfinite(magnitudes(made)) & np.isfinite(found), found, np.inf)


def slack_of(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Slack:
    """Return the slack of a computed node from what its sources are worth, and what is known of them."""
    if node.op in ("contig", "copy"):
        return known[0]
    if node.op == "gather":
        return _gathered(node, of, known, made)
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
    if _settled(node, of, known, made):
        return exact(made)
    spans = [each.span for each in known]
    span = summed(node, of, spans)
    chain = span if any(each is not None for each in spans) else None
    bits = _rounding(node, of, known, made, chain)
    if node.op == "alu" and node.arg in ("exp2", "log2"):
        bits |= _approximated(str(node.arg), of[0], made)
    if node.op == "alu" and kind(logical(made.dtype)) == "float" and not np.isfinite(made).all():
        bits &= ~bit_of(_decided(str(node.arg), of, known, made), UNKNOWN)
    chosen = carried(node, of, known, made)
    if chosen is not None:
        bits |= chosen
    if node.op == "alu" and node.arg in _ITSELF:
        # A quotient of a product, or of what was rounded, is open for the order of operations too.
        other = np.uint16(UNKNOWN | ROUNDED | PRODUCT if node.arg in ("div", "recip") else UNKNOWN)
        before = [(each.mask & other) > 0 for each in known]
        bits |= bit_of(((bits & UNKNOWN) > 0) & ~np.logical_or.reduce(before), OPEN)
    if node.op == "alu" and node.arg == "where":
        chosen_of = np.where(of[0], known[1].mask, known[2].mask) & np.uint16(OPEN | OUTSIDE)
        bits |= np.where((known[0].mask & np.uint16(UNKNOWN)) > 0, np.uint16(0), chosen_of)
    ends = (lambda: _ends(node, of, known, made)) if _adds(node, made) else None
    return slack_after(known, bits, lambda: _bounded(node, of, known, made, bits), span, ends)


def _bounded(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array, bits: Bits) -> Bound:
    """Return ``k`` and ``m``, infinite ``k`` where bounds of first order say nothing."""
    k, m = bounds(node, of, known, made)
    unknown = (bits & UNKNOWN) > 0
    if unknown.any():
        with np.errstate(all="ignore"):
            floats = kind(logical(made.dtype)) in ("float", "complex")
            nothing = vacuous(k, m, made) if floats else unknown | ~(m < np.inf) | np.isnan(k)
            if floats and _compounds(node):
                k = np.where(nothing, _compounded(node, k, made), k)
                nothing = ~(m * (1.0 + k * unit_roundoff(logical(made.dtype))) < float(ml_dtypes.finfo(made.dtype).max))
            elif floats and _moves(node):
                nothing = np.isnan(k)
            k = np.where(unknown & nothing, np.inf, k)
    return np.asarray(k), m


def _moves(node: Node) -> bool:
    """Return whether elements are those of sources, cut or not, and off as these are, or by one more."""
    if node.op == "alu":
        return node.arg in ("where", "max", "min", "neg", "abs", "trunc")
    return node.op == "collective" and node.attrs.get("op") not in ARITHMETIC


def _compounds(node: Node) -> bool:
    """Return whether a node is a product of many factors, or a collective that computes: their roundings compound."""
    product = node.op in ("reduce", "all_reduce") and node.fold == "mul"
    return product or (node.op == "collective" and node.attrs.get("op") in ARITHMETIC)


def _compounded(node: Node, k: Reals, made: Array) -> Reals:
    """Return ``k`` of any number of roundings, which that of a product is; others are at most ``expm1`` of them."""
    if node.op != "collective" or node.attrs["op"] == "product":
        return k
    u = unit_roundoff(logical(made.dtype))
    return np.asarray(np.expm1(k * u * (1.0 + TWICE)) / u)


def vacuous(k: Reals, m: Reals, made: Array) -> Where:
    """Return of which floats a bound of first order says nothing."""
    with np.errstate(all="ignore"):
        large = ~(m < float(ml_dtypes.finfo(made.dtype).max) / 4)
        return np.asarray((k * unit_roundoff(logical(made.dtype)) > VACUOUS) | large | np.isnan(k))


def _adds(node: Node, made: Array) -> bool:
    """Return whether a node is a sum of many real floats."""
    return node.op in ("reduce", "all_reduce") and node.fold == "add" and kind(logical(made.dtype)) == "float"


def _ends(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> tuple[Reals, Reals]:
    """Return the least and the greatest right value of sums of given terms; infinite ones where nothing is known."""
    one = node.op == "reduce"
    terms, axes = (of[0], axes_of(node)) if one else (np.stack(of), (0,))
    off = known[0].k > 0 if one else np.stack([each.k > 0 for each in known])
    found = long_sums(terms, tuple(axis % terms.ndim for axis in axes)) if terms.dtype == made.dtype else None
    nothing = np.full(made.shape, np.inf)
    if found is None:
        return -nothing, nothing
    open_ = np.asarray(off | ~np.isfinite(terms.astype(np.float64))).any(axis=axes)
    low, high = (each.reshape(made.shape) for each in found)
    open_ = open_.reshape(made.shape) | np.isnan(low) | np.isnan(high)
    return np.where(open_, -np.inf, low), np.where(open_, np.inf, high)


def _settled(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> bool:
    """Return whether whole numbers of one value are given, of which an operation has one result whatever they are."""
    return (
        (node.op == "reduce" or (node.op == "alu" and node.arg not in _OPEN_TO_INTEGERS))
        and made.dtype.kind in _WHOLE
        and all(each.dtype.kind in _WHOLE for each in of)
        and not any(each.bits for each in known)
    )


def _rounding(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array, chain: Span | None = None) -> Bits:
    """Return the bits of ``reference.graph.rounding``."""
    mask = rounded(node, of, [each.mask.astype(np.uint8) for each in known], made, chain)
    return np.zeros(made.shape, np.uint16) if mask is None else (mask & np.uint8(255 - OUTSIDE)).astype(np.uint16)


def _decided(op: str, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Where:
    """Return which real results are NaN, or infinite, for every right value of the operands.

    Those are made of a NaN that is known, of a known infinity and a bounded number that is added to it, or are the root
    or the logarithm of a number that is bounded below zero.
    """
    if op in ("max", "min", "where") or any(kind(logical(each.dtype)) != "float" for each in of):
        return np.zeros(made.shape, np.bool_)
    sure = [(each.mask & np.uint16(UNKNOWN | BESIDE)) == 0 for each in known]
    with np.errstate(all="ignore"):
        nan = np.logical_or.reduce([np.isnan(each) & one for each, one in zip(of, sure, strict=True)])
        found = np.isnan(made) & nan
        if op in ("sqrt", "log2"):
            found |= np.isnan(made) & (of[0].astype(np.float64) + radius(known[0], of[0]) < 0)
        if op in ("add", "sub"):
            most = float(ml_dtypes.finfo(made.dtype).max) / 2
            near = [magnitudes(each) + radius(slack, each) < most for each, slack in zip(of, known, strict=True)]
            ends = [np.isinf(each) & one for each, one in zip(of, sure, strict=True)]
            found |= (ends[0] & near[1]) | (ends[1] & near[0])
    return np.asarray(found)


def _approximated(op: str, value: Array, made: Array) -> Bits:
    """Return the bit of finite results of exp2 and log2: no source has them exact but where exp and log are."""
    exact_at = 0.0 if op == "exp2" else 1.0
    finite = np.isfinite(magnitudes(value)) & np.isfinite(magnitudes(made))
    return bit_of(finite & (value != exact_at), UNKNOWN)


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


def _gathered(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Slack:
    """Return the slack of what indices number: nothing is known where an index is not, or is out of range.

    What an index is made of is on the way to what it takes, as a condition is to what it chooses.
    """
    axis, data, index = int(str(node.arg)), known[0], known[1].mask
    bits = _rounding(node, of, known, made)
    if not of[0].shape[axis]:
        return Slack(bits, lambda: (np.full(made.shape, np.inf), np.zeros(made.shape)))
    at = nearest(of[1], of[0].shape[axis])
    unknown = (index & np.uint16(UNKNOWN)) > 0
    outside = np.asarray(of[1] != at)
    mask = np.asarray(np.take(data.mask, at, axis=axis), np.uint16)
    left, lost, lead = (
        beside_elements(each, axis, of[0].ndim)
        for each in (outside & ~unknown, outside | unknown, index & np.uint16(CARRIED))
    )
    bits |= (mask & np.uint16(CARRIED)) | lead
    bits |= np.where(lost, bit_of(left, OUTSIDE), mask & np.uint16(OPEN | OUTSIDE))

    def taken() -> Bound:
        k, m = (np.take(each, at, axis=axis) for each in (data.k, data.m))
        return np.where(lost, np.inf, k), np.asarray(m, np.float64)

    def ends() -> tuple[Reals, Reals]:
        low, high = (np.take(each, at, axis=axis) for each in ends_of(data))
        return np.where(lost, -np.inf, low), np.where(lost, np.inf, high)

    return slack_after(known, bits, taken, ends=data.ends and ends)
