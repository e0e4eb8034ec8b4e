"""What is carried along a graph of numbers that a number model chooses, as bits of the elements made of them.

Subnormal numbers and infinities of 8 bits have a bit themselves, and so has whatever is made of them. What an operation
of 16 bits gives and had to round has one, too: compilers that compute several operations together may leave it wider.
Of such values sums, products and the like are as near as their bounds say, while comparisons and others jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.graph.bounds import Bits, Slack
from conformance.reference.graph.nodes import axes_of
from conformance.reference.graph.rounding_operations import rounds

SUBNORMAL: Final = 256
"""An operation took or gave a subnormal number on the way."""

INFINITE: Final = 1024
"""An operation gave an infinity of a format of 8 bits on the way, or took one."""

EXCESS: Final = 2048
"""It is made of what is ``SHORT``, and anything where that stayed wider on the way."""

SHORT: Final = 4096
"""An operation of 16 bits gave an infinity of finite numbers, or a conversion to 16 bits rounded."""

NARROWED: Final = 8192
"""An operation of 16 bits rounded a finite number."""

APART: Final = 16384
"""It is made of what is ``NARROWED``, and as near as its bound says where that stayed wider on the way."""

LOST: Final = 32768
"""It is made of what is ``NARROWED`` by an operation that jumps, and anything where that stayed wider on the way."""

CHOSEN: Final = SUBNORMAL | INFINITE
"""The bits of what a number model chooses."""

WIDER: Final = NARROWED | APART | LOST
"""The bits of what 16 bits rounded, which change no right value where nothing is declared."""

CARRIED: Final = CHOSEN | EXCESS | SHORT | WIDER
"""The bits that whatever is made of a value has, too."""

_NEAR: Final = ("add", "sub", "mul", "div", "recip", "neg", "abs", "max", "min")
"""The operations whose bounds count how far their operands are off; others move with the value, or jump."""

_ROUNDING: Final = ("add", "sub", "mul", "div", "recip")
"""The operations of which a rounded result is one right value."""


def carried(node: Node, of: Sequence[Array], known: Sequence[Slack], made: Array) -> Bits | None:
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
        here = [_wider(each, near=_near(node, at)) for at, each in enumerate(here)]
    if node.op == "alu" and node.arg == "where":  # which takes one of the two, whatever the other is
        here = [here[0], np.where(of[0], here[1], here[2])]
    if node.op == "bitcast":  # which takes what was rounded
        here = [_bits_of(here[0])]
    if node.op == "reduce":
        here = [np.asarray(np.bitwise_or.reduce(here[0], axis=axes_of(node)))]
    here += [] if last is None else [last]
    if node.op == "collective":
        # One that asks for a number takes no blocks.
        met = np.array([np.bitwise_or.reduce(each, axis=None) for each in here], np.uint16)
        return np.full(made.shape, np.bitwise_or.reduce(met), np.uint16)
    return np.asarray(np.bitwise_or.reduce(here))


def _near(node: Node, at: int) -> bool:
    """Return whether the bound of a node counts how far its operand ``at`` is off."""
    if node.op == "alu":
        return node.arg in _NEAR or (node.arg == "where" and at > 0)
    return node.op == "reduce" or (node.op == "cast" and kind(node.dtype) == "float")


def _wider(bits: Bits, *, near: bool) -> Bits:
    """Return the bits of an operand as what is made of it has them: ``EXCESS`` for ``SHORT``, and so on."""
    found = bits & np.uint16(CHOSEN | EXCESS | LOST)
    for mask, bit in ((SHORT, EXCESS), (NARROWED | APART, APART if near else LOST)):
        met = (bits & np.uint16(mask)) > 0
        found = found | bit_of(met, bit) if met.any() else found
    return np.asarray(found)


def _bits_of(bits: Bits) -> Bits:
    """Return the bits of an operand as its bit pattern has them: of another number it is anything."""
    apart = (bits & np.uint16(APART)) > 0
    return np.asarray((bits & np.uint16(CARRIED & ~(NARROWED | APART))) | bit_of(apart, LOST))


def _shortened(node: Node, of: Sequence[Array], made: Array, bits: Bits | None) -> Bits | None:
    """Return the bits with ``SHORT`` and ``NARROWED`` where an elementwise operation gave it."""
    if node.op not in ("alu", "cast") or made.dtype.itemsize != 2 or kind(logical(made.dtype)) != "float":
        return bits
    families = {kind(logical(each.dtype)) for each in of}
    with np.errstate(all="ignore"):  # of a signalling NaN
        short = np.isinf(made)
        for each in of:
            if kind(logical(each.dtype)) == "float":
                short = short & np.isfinite(each)
        narrowed = np.zeros(made.shape, np.bool_)
        if node.op == "cast" and families == {"float"} and of[0].dtype.itemsize > 2:
            short = short | (made.astype(of[0].dtype) != of[0]) & ~np.isnan(made)
        elif node.op == "cast" and families == {"integer"}:
            narrowed = made.astype(np.float64) != of[0].astype(np.float64)
        elif node.op == "alu" and node.arg in _ROUNDING:
            narrowed = np.isfinite(made) & rounds(str(node.arg), of, made)
    for where, bit in ((short, SHORT), (narrowed, NARROWED)):
        if where.any():
            found = bit_of(where, bit)
            bits = found if bits is None else bits | found
    return bits


def bit_of(where: NDArray[np.bool_], bit: int) -> Bits:
    """Return a bit where it is set."""
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
    return bit_of(little, SUBNORMAL) | bit_of(endless, INFINITE) if narrow else bit_of(little, SUBNORMAL)


@cache
def _subnormals(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], Any, Any]:
    """Return the dtype of the bits of floats, the bits that are no sign, and those of the least normal number."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    info = ml_dtypes.finfo(dtype)
    least = np.asarray(info.smallest_normal, dtype).view(unsigned)
    return unsigned, unsigned.type(2 ** (info.bits - 1) - 1), unsigned.type(int(least))
