"""What may differ between right results of a graph, element by element, where data round or are dangerous.

Every operation rounds to its dtype, so that one rounded result is the right one. Where a sum or a product of floats
takes what was rounded, or has several terms of which some order may round, no value that is made of it is: engines
associate in their own ways. Nor is what a dtype leaves open: a conversion out of range, a division by zero of
integers, a shift beyond the width, a float of 8 bits that overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.exactness import unit
from conformance.reference.graph.column_rounding import decided, shows
from conformance.reference.graph.nodes import beside_elements, nearest, operation_of
from conformance.reference.graph.rounding_operations import open_cast, rounds, unsettled
from conformance.reference.operations import PARTS, folded_positions
from conformance.reference.reductions import ARITHMETIC

Mask = NDArray[np.uint8]
"""What is known of each element of a value, as bits."""

ROUNDED: Final = 1
"""It was rounded on the way: what is added to it, or multiplied by it, may be associated otherwise."""

UNKNOWN: Final = 2
"""Several values are right."""

LOOSE: Final = 4
"""Equal values of other bits are right: a zero of the other sign, another NaN."""

BESIDE: Final = 8
"""It is made of a maximum or a minimum of a NaN and a number (``law.C2``), which the identity of a fold is too."""

PRODUCT: Final = 16
"""It is a product or a quotient, of which the next factor may be taken first."""

EXTREME: Final = 32
"""A factor on the way is so great or small that some product of a few such overflows."""

EITHER: Final = 64
"""A zero on the way may have either sign: sources differ in the sign that they give it."""

Span = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Of the terms of a sum, element by element: the greatest power of two that all are multiples of, and the sum of their
magnitudes, infinities apart."""

_FOLDS: Final = {"add": "sum", "mul": "product"}
_REDUCING: Final = ("all_reduce", "reduce", "reduce_scatter")
_COMPARING: Final = "arg_reduce"
_EXTREMES: Final = ("max", "min")
_LASTING: Final = np.uint8(UNKNOWN | BESIDE)


def summed(node: Node, of: Sequence[Array], spans: Sequence[Span | None]) -> Span | None:
    """Return the span of an elementwise sum or difference of floats of which a source may be one too."""
    if node.op == "alu" and node.arg in ("neg", "abs"):
        return spans[0]
    if node.op != "alu" or node.arg not in ("add", "sub") or kind(node.dtype) != "float":
        return None
    known = [_span(value) if span is None else span for value, span in zip(of, spans, strict=True)]
    with np.errstate(over="ignore"):
        return np.minimum(known[0][0], known[1][0]), known[0][1] + known[1][1]


def _span(value: Array) -> Span:
    # To widen a signalling NaN is an invalid operation, and has a right result.
    with np.errstate(invalid="ignore"):
        magnitudes = np.abs(value.astype(np.float64))
    return unit(magnitudes), np.where(np.isfinite(magnitudes), magnitudes, 0.0)


def rounded(
    node: Node, of: Sequence[Array], masks: Sequence[Mask | None], made: Array, chain: Span | None = None
) -> Mask | None:
    """Return what is known of the elements of a computed node, or ``None`` where it is exact everywhere.

    ``of`` is what its sources are worth, ``masks`` are theirs, and ``made`` is what it is worth. ``chain`` is the span
    of a sum whose terms are sums too.
    """
    bits = [np.zeros(value.shape, np.uint8) if mask is None else mask for value, mask in zip(of, masks, strict=True)]
    if node.op == "collective":
        found = _received(node, of, bits)
    elif node.op in ("reduce", "all_reduce"):
        one = node.op == "reduce"
        axes = (
            tuple(axis for axis in node.arg if isinstance(axis, int)) if one and isinstance(node.arg, tuple) else (0,)
        )
        found = _folded(of[0] if one else np.stack(of), bits[0] if one else np.stack(bits), axes, node.fold)
    elif node.op == "alu":
        found = _elementwise(str(node.arg), of, bits, made)
        if chain is not None:
            found = found | _bit(_reordered(chain, made), UNKNOWN)
    elif node.op == "cast":
        found = bits[0] | _bit(open_cast(of[0], node.dtype), UNKNOWN) | _bit(_computed_nan(of[0], made), LOOSE)
    elif node.op == "bitcast":
        found = bits[0] | _bit((bits[0] & LOOSE) > 0, UNKNOWN)
    elif node.op == "gather":
        found = _gathered(node, of, bits)
    else:
        found = bits[0]
    return found if np.count_nonzero(found) else None


def _elementwise(op: str, of: Sequence[Array], bits: Sequence[Mask], made: Array) -> Mask:
    """Return the bits of an elementwise operation."""
    if op == "where":
        return (bits[0] & _LASTING) | np.where(of[0], bits[1], bits[2])
    # To reduce a list, NumPy first makes one array of it.
    found = bits[0] | bits[1] if len(bits) == 2 else np.bitwise_or.reduce(bits)
    floats = kind(logical(of[0].dtype)) in ("float", "complex")
    if op in COMPARISONS:
        return np.asarray(found & _LASTING)
    if op not in ("mul", "div", "recip", "neg", "abs"):
        found &= np.uint8(255 - PRODUCT - EXTREME)
    with np.errstate(all="ignore"):
        unknown = unsettled(op, of, made)
        if floats and op in ("add", "sub", "mul", "div", "recip"):
            unknown |= (found & ROUNDED) > 0
            inexact_here = rounds(op, of, made)
            if op in ("mul", "div", "recip"):
                again = (found & PRODUCT) > 0
                unknown |= wild(of, bits) | (again & (inexact_here | (op != "mul")))
                found |= _bit(_some_extreme(of), EXTREME) | np.uint8(PRODUCT)
            found |= _bit(inexact_here, ROUNDED)
        if floats and op in ("div", "recip"):
            unknown |= ((bits[-1] & LOOSE) > 0) & (of[-1] == 0)
        if floats and op in _EXTREMES:
            nan = [_is_nan(value) for value in of]
            found |= _bit(nan[0] != nan[1], BESIDE) | _bit(_either_zero(np.stack(list(of)), (0,)), EITHER)
        if floats and op in ("div", "sqrt", "log2"):
            found |= _bit(_undefined(op, of) & (made == 0), EITHER)
        return np.asarray(found | _bit(unknown, UNKNOWN) | _loose(made))


def _undefined(op: str, of: Sequence[Array]) -> NDArray[np.bool_]:
    """Return where a result is NaN, of either sign: a dtype without NaN has a zero of that sign for it."""
    if kind(logical(of[0].dtype)) != "float":
        return np.zeros(of[0].shape, np.bool_)
    return np.asarray((of[0] == 0) & (of[1] == 0) if op == "div" else of[0] < 0)


def _reordered(chain: Span, made: Array) -> NDArray[np.bool_]:
    """Return where some order of the terms of a sum may round, or overflow beside an infinity."""
    info = ml_dtypes.finfo(made.dtype)
    overflows = chain[1] > float(info.max)
    with np.errstate(over="ignore"):
        digits = chain[1] / chain[0] > 2.0 ** (info.nmant + 1)
    return np.asarray(np.where(np.isfinite(made), digits | overflows, overflows))


def wild(of: Sequence[Array], bits: Sequence[Mask]) -> NDArray[np.bool_]:
    """Return where some order of the factors of a product or a quotient may overflow, or nearly vanish, on the way."""
    found = np.bitwise_or.reduce(bits)
    return np.asarray(((found & PRODUCT) > 0) & (((found & EXTREME) > 0) | _some_extreme(of)))


def _some_extreme(of: Sequence[Array]) -> NDArray[np.bool_]:
    return np.asarray(np.bitwise_or.reduce([_extreme(value) for value in of]))


def _extreme(value: Array) -> NDArray[np.bool_]:
    """Return which numbers are beyond a quarter of the exponents of their dtype, zeros and infinities apart."""
    if kind(logical(value.dtype)) not in ("float", "complex"):
        return np.ones(value.shape, np.bool_)
    if value.dtype.kind == "c":
        return _extreme(value.real) | _extreme(value.imag)
    magnitude = np.abs(value.astype(np.float64))
    most = float(ml_dtypes.finfo(value.dtype).max) ** 0.25
    return np.asarray(np.isfinite(magnitude) & (magnitude > 0) & ((magnitude > most) | (magnitude < 1 / most)))


def _computed_nan(value: Array, made: Array) -> NDArray[np.bool_]:
    """Return the NaNs that a conversion gives: IEEE 754 (6.2.3) recommends a payload, and many have one NaN for all."""
    if kind(logical(value.dtype)) not in ("float", "complex"):
        return np.zeros(made.shape, np.bool_)
    return _is_nan(made)


def _is_nan(values: Array) -> NDArray[np.bool_]:
    return np.asarray(values != values)  # noqa: PLR0124 - a NaN differs from itself


def _either_zero(values: Array, axes: Sequence[int]) -> NDArray[np.bool_]:
    """Return where zeros of both signs are among the terms along ``axes`` of a maximum or a minimum.

    IEEE 754-2019 (9.6) has +0 for the greater one; NumPy, C and frameworks keep the one that they see first, or last.
    """
    if kind(logical(values.dtype)) != "float":
        return np.zeros([extent for axis, extent in enumerate(values.shape) if axis not in axes], np.bool_)
    zero, minus = values == 0, np.signbit(values)
    return np.asarray((zero & minus).any(axis=tuple(axes)) & (zero & ~minus).any(axis=tuple(axes)))


def _gathered(node: Node, of: Sequence[Array], bits: Sequence[Mask]) -> Mask:
    """Return the bits of what indices number: those of the element, and what lasts of the index.

    Several values are right of an index that is no element's.
    """
    axis = int(str(node.arg))
    shape = (*of[0].shape[:axis], *of[1].shape, *of[0].shape[axis + 1 :])
    if not of[0].shape[axis]:
        return np.full(shape, UNKNOWN, np.uint8)
    at = nearest(of[1], of[0].shape[axis])
    lead = (bits[1] & _LASTING) | _bit(np.asarray(of[1] != at), UNKNOWN)
    return np.asarray(np.take(bits[0], at, axis=axis) | beside_elements(lead, axis, of[0].ndim), np.uint8)


def _bit(where: NDArray[np.bool_], bit: int) -> Mask:
    """Return a bit where it is set."""
    return np.asarray(np.multiply(where, np.uint8(bit), dtype=np.uint8))


def _loose(made: Array) -> Mask:
    """Return the bits of computed zeros and NaNs."""
    if kind(logical(made.dtype)) not in ("float", "complex"):
        return np.zeros(made.shape, np.uint8)
    zero = (made.real == 0) | (made.imag == 0) if made.dtype.kind == "c" else made == 0
    return _bit(zero | _is_nan(made), LOOSE)


def _folded(values: Array, bits: Mask, axes: Sequence[int], op: str) -> Mask:
    """Return the bits of a fold along ``axes``, which are gone from it."""
    found = np.asarray(np.bitwise_or.reduce(bits, axis=tuple(axes)), np.uint8)
    if kind(logical(values.dtype)) not in ("float", "complex"):
        return found
    if not values.size:
        # Of nothing a sum is +0 (IEEE 754-2019, 9.4), but -0 where it begins with what changes no number.
        return found | _bit(np.full(found.shape, op == "add"), LOOSE)
    if op in _FOLDS:
        shown = shows(values, axes, _FOLDS[op]) | (((found & ROUNDED) > 0) & ~decided(values, axes, _FOLDS[op]))
        found = (found & (_LASTING | np.uint8(EITHER))) | _bit(shown, UNKNOWN)
        found |= _bit(_negative_zeros(values, axes, _FOLDS[op]), EITHER)
        return np.asarray(found | np.uint8(LOOSE))
    return np.asarray(found | _extremes(values, axes) | np.uint8(LOOSE))


def _negative_zeros(values: Array, axes: Sequence[int], op: str) -> NDArray[np.bool_]:
    """Return where a sum has negative zeros alone: it is +0 where it begins with the identity, as in StableHLO."""
    if op != "sum" or kind(logical(values.dtype)) != "float":
        return np.zeros([extent for axis, extent in enumerate(values.shape) if axis not in axes], np.bool_)
    return np.asarray(((values == 0) & np.signbit(values)).all(axis=tuple(axes)))


def _extremes(values: Array, axes: Sequence[int]) -> Mask:
    """Return the bits of a maximum or a minimum along ``axes``; who begins with the identity may lose any NaN."""
    return _bit(np.asarray(_is_nan(values).any(axis=tuple(axes))), BESIDE) | _bit(_either_zero(values, axes), EITHER)


def _of_part(node: Node, of: Sequence[Array], masks: Sequence[Mask], part: Sequence[int]) -> Mask:
    """Return the bits of what a device receives of a part of the members: those of a reduction of these."""
    if not part:
        return np.zeros(tuple(int(extent) for extent in node.shape), np.uint8)
    if len(part) == 1 and "factor" not in node.attrs:
        return np.asarray(masks[part[0]] | np.uint8(LOOSE))
    attrs = {name: value for name, value in node.attrs.items() if name in ("op", "factor")}
    members, operands = (tuple(each[at] for at in part) for each in (node.members, node.of))
    reduced = replace(node, arg="all_reduce", attrs=attrs, members=members, device=members[-1], of=operands)
    return _received(reduced, [of[at] for at in part], [masks[at] for at in part])


def _received(node: Node, of: Sequence[Array], masks: Sequence[Mask]) -> Mask:
    """Return the bits of what a device receives: they go the way of the blocks."""
    if node.arg in PARTS:
        place = node.members.index(node.device)
        return _of_part(node, of, masks, folded_positions(str(node.arg), place, len(node.members), node.attrs))
    lasting = any((mask & (_LASTING | ROUNDED)).any() for mask in masks)
    whole = np.full(tuple(int(extent) for extent in node.shape), UNKNOWN if lasting else 0, np.uint8)
    attrs, op, count = dict(node.attrs), str(node.attrs.get("op", "")), len(node.members)
    name = str(node.arg)
    floats = bool(of) and kind(logical(of[0].dtype)) in ("float", "complex")
    local = attrs.get("local_axes", ())
    axes = [axis + 1 for axis in (local if isinstance(local, tuple) else ()) if isinstance(axis, int)]
    axes = [axis if axis > 0 else axis + of[0].ndim for axis in axes]
    if name == _COMPARING:
        name = "all_reduce"
    elif name in _REDUCING and op in ARITHMETIC and floats:
        shown: Any = shows(np.stack(of), (0, *axes), op, float(str(attrs.get("factor", 1.0))))
        shown = np.expand_dims(shown, [axis - 1 for axis in axes])
        least = np.expand_dims(_negative_zeros(np.stack(of), (0, *axes), op), [axis - 1 for axis in axes])
        bits = _bit(least, EITHER) | np.uint8(LOOSE)
        masks = [np.where((mask & (ROUNDED | UNKNOWN)) | shown, np.uint8(UNKNOWN), mask) | bits for mask in masks]
    elif len(of) != count:
        return whole
    elif name in _REDUCING and op in _EXTREMES and floats:
        either = np.expand_dims(_either_zero(np.stack(of), (0, *axes)), [axis - 1 for axis in axes])
        here = _bit(np.asarray(_is_nan(np.stack(of)).any(axis=0)), BESIDE) | _bit(either, EITHER) | np.uint8(LOOSE)
        masks = [mask | here for mask in masks]
    if not any(mask.any() for mask in masks):
        return whole
    if op:
        attrs = {each: value for each, value in attrs.items() if each != "factor"} | {"op": "or"}
    operation = operation_of(name)
    assert operation is not None  # the value was received by it
    found = operation(list(masks), **attrs, groups=(tuple(range(count)),))[node.members.index(node.device)]
    return whole if found is None else np.asarray(found, np.uint8)
