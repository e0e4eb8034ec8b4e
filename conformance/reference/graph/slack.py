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
from dataclasses import replace as frozen
from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.cases.graph.graph import Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.reference.graph.bounds import Bits, Bound, Reals, Slack, bounds, magnitudes, slack_after, unit_roundoff
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.long_sums import long_sums
from conformance.reference.graph.nodes import axes_of, beside_elements, nearest
from conformance.reference.graph.rounding import BESIDE, PRODUCT, ROUNDED, UNKNOWN, Span, rounded, summed

Where = NDArray[np.bool_]

SUBNORMAL: Final = 256
"""A bit of a mask: an operation took or gave a subnormal number on the way."""

INFINITE: Final = 1024
"""A bit of a mask: an operation gave an infinity of a format of 8 bits on the way, or took one."""

OPEN: Final = 512
"""A bit of a mask: what it is made of is right to the last bit, and several results of the operation itself are."""

EXCESS: Final = 2048
"""A bit of a mask: it is made of what is ``SHORT``, and another where that stayed wider on the way."""

SHORT: Final = 4096
"""A bit of a mask: an operation of 16 bits gave an infinity of finite numbers, or a conversion to 16 bits rounded."""

CHOSEN: Final = SUBNORMAL | INFINITE
"""The bits of what a number model chooses."""

CARRIED: Final = CHOSEN | EXCESS | SHORT
"""The bits that whatever is made of a value has, too."""

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
    chosen = _made_of(node, of, known, made)
    if chosen is not None:
        bits |= chosen
    if node.op == "alu" and node.arg in _ITSELF:
        # A quotient of a product, or of what was rounded, is open for the order of operations too.
        other = np.uint16(UNKNOWN | ROUNDED | PRODUCT if node.arg in ("div", "recip") else UNKNOWN)
        before = [(each.mask & other) > 0 for each in known]
        bits |= _bit(((bits & UNKNOWN) > 0) & ~np.logical_or.reduce(before), OPEN)
    found = slack_after(known, bits, lambda: _bounded(node, of, known, made, bits), span)
    return frozen(found, ends=cache(lambda: _ends(node, of, known, made))) if _adds(node, made) else found


def _bounded(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array, bits: Bits) -> Bound:
    """Return ``k`` and ``m``, infinite ``k`` where bounds of first order say nothing."""
    k, m = bounds(node, of, known, made)
    unknown = (bits & UNKNOWN) > 0
    if unknown.any():
        with np.errstate(all="ignore"):
            floats = kind(logical(made.dtype)) in ("float", "complex")
            vacuous = k * unit_roundoff(logical(made.dtype)) > VACUOUS if floats else unknown
            most = float(ml_dtypes.finfo(made.dtype).max) if floats else np.inf
            k = np.where(unknown & (vacuous | ~(m < most / 4) | np.isnan(k)), np.inf, k)
    return np.asarray(k), m


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
    return np.zeros(made.shape, np.uint16) if mask is None else mask.astype(np.uint16)


def _approximated(op: str, value: Array, made: Array) -> Bits:
    """Return the bit of finite results of exp2 and log2: no source has them exact but where exp and log are."""
    exact_at = 0.0 if op == "exp2" else 1.0
    finite = np.isfinite(magnitudes(value)) & np.isfinite(magnitudes(made))
    return _bit(finite & (value != exact_at), UNKNOWN)


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
    bits |= np.where(lost, _bit(left, OPEN), mask & np.uint16(OPEN))

    def taken() -> Bound:
        k, m = (np.take(each, at, axis=axis) for each in (data.k, data.m))
        return np.where(lost, np.inf, k), np.asarray(m, np.float64)

    return slack_after(known, bits, taken)


def _made_of(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Bits | None:
    """Return the bits of ``CARRIED``: of such numbers, of what operations make of them, and of what has the bit.

    ``None`` where there is none.
    """
    given: list[Bits | None] = [None] * len(of)
    last = None
    if node.op in ("alu", "cast", "reduce", "all_reduce") or (node.op == "collective" and "op" in node.attrs):
        given = [_chosen(value) for value in of]
        last = _shortened(node, of, made, _chosen(made))
    if last is None and not any(each.bits & CARRIED for each in known) and all(one is None for one in given):
        return None
    here = [each.mask & np.uint16(CARRIED) for each in known]
    here = [each if one is None else each | one for each, one in zip(here, given, strict=True)]
    if node.op in ("alu", "cast", "reduce"):
        here = [_wider(each) for each in here]
    if node.op == "reduce":
        here = [np.asarray(np.bitwise_or.reduce(here[0], axis=axes_of(node)))]
    here += [] if last is None else [last]
    if node.op == "collective":
        # One that asks for a number takes no blocks.
        met = np.array([np.bitwise_or.reduce(each, axis=None) for each in here], np.uint16)
        return np.full(made.shape, np.bitwise_or.reduce(met), np.uint16)
    return np.asarray(np.bitwise_or.reduce(here))


def _wider(bits: Bits) -> Bits:
    """Return the bits of operands as what is made of them has them: ``EXCESS`` for ``SHORT``."""
    short = (bits & np.uint16(SHORT)) > 0
    return np.asarray((bits & np.uint16(CHOSEN | EXCESS)) | _bit(short, EXCESS)) if short.any() else bits


def _shortened(node: Node, of: Sequence[Array], made: Array, bits: Bits | None) -> Bits | None:
    """Return the bits with ``SHORT`` where an elementwise operation gave it."""
    if node.op not in ("alu", "cast") or made.dtype.itemsize != 2 or kind(logical(made.dtype)) != "float":
        return bits
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        short = np.isinf(made)
        for each in of:
            if kind(logical(each.dtype)) == "float":
                short = short & np.isfinite(each)
    if node.op == "cast" and kind(logical(of[0].dtype)) == "float" and of[0].dtype.itemsize > 2:
        with np.errstate(all="ignore"):
            short = short | (made.astype(of[0].dtype) != of[0]) & ~np.isnan(made)
    if not short.any():
        return bits
    found = _bit(short, SHORT)
    return found if bits is None else bits | found


def _bit(where: Where, bit: int) -> Bits:
    return np.asarray(np.multiply(where, np.uint16(bit), dtype=np.uint16))


def _chosen(values: Array) -> Bits | None:
    """Return the bits of ``CHOSEN`` of values themselves, ``None`` where no value has any."""
    if values.dtype.kind == "c":
        real, imaginary = _chosen(values.real), _chosen(values.imag)
        return imaginary if real is None else real if imaginary is None else real | imaginary
    if kind(logical(values.dtype)) != "float":
        return None
    unsigned, magnitude, normal = _subnormals(values.dtype)
    size = values.view(unsigned) & magnitude
    little = (size > 0) & (size < normal)
    narrow = values.dtype.itemsize == 1
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        endless = np.isinf(values) if narrow else little
    if not (np.count_nonzero(little) or np.count_nonzero(endless)):
        return None
    return _bit(little, SUBNORMAL) | _bit(endless, INFINITE) if narrow else _bit(little, SUBNORMAL)


@cache
def _subnormals(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], Any, Any]:
    """Return the dtype of the bits of floats, the bits that are no sign, and those of the least normal number."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    info = ml_dtypes.finfo(dtype)
    least = np.asarray(info.smallest_normal, dtype).view(unsigned)
    return unsigned, unsigned.type(2 ** (info.bits - 1) - 1), unsigned.type(int(least))
