"""Which results of single operations on complex numbers are exact, and which may be others, element by element.

No source says how a product or a quotient of complex numbers rounds: the products of the parts may be rounded before
they are added or together with the sum, and a quotient is made by the textbook, by Smith's algorithm, or by way of a
reciprocal. One result is right where all of these give it.

A product by three real ones (Gauss, Karatsuba) is none of them: it keeps few digits of a part that is small beside the
other one, so that BLAS libraries have it under a name of its own (``cgemm3m``). Where parts round it is within the
bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.reference.exactness import parts_of
from conformance.reference.graph.real_arithmetic import Where, real_rounds


def complex_rounds(op: str, of: Sequence[Array], made: Array) -> Where:
    """Return where a sum, a difference, a product or a quotient of complex numbers is not exactly ``made``."""
    left, right = of[0], of[-1]
    if op in ("add", "sub"):
        real = real_rounds(op, (left.real, right.real), made.real)
        return np.asarray(real | real_rounds(op, (left.imag, right.imag), made.imag))
    if op == "mul":
        return np.asarray(complex_open(op, of, made) | _products(left, right, made)[1])
    dividend = np.ones((), right.dtype) if op == "recip" else left
    back, inexact = _products(made, right, np.asarray(dividend))
    return np.asarray(back | inexact | (made * right != dividend))


def complex_open(op: str, of: Sequence[Array], made: Array) -> Where:
    """Return where a product or a quotient of complex numbers has several right results."""
    left, right = of[0], of[-1]
    finite = np.isfinite(left) & np.isfinite(right) & np.isfinite(made)
    if op == "mul":
        return np.asarray(~finite | _products(left, right, made)[0])
    if op not in ("div", "recip"):
        return np.zeros(made.shape, np.bool_)
    top = np.broadcast_to(np.ones((), right.dtype), right.shape) if op == "recip" else left
    square = np.asarray(right.real * right.real + right.imag * right.imag, parts_of(right.dtype))
    over = np.asarray(top * right.conj())
    textbook = np.asarray(over.real / square + 1j * (over.imag / square), made.dtype)
    lost = _products(top, right.conj(), over)
    squared = _products(right, right.conj(), np.asarray(square, right.dtype))
    exact = ~complex_rounds(op, of, made) & ~lost[0] & ~lost[1] & ~squared[0] & ~squared[1]
    # The factor of a product with the reciprocal: where it rounds, some way to multiply shows it.
    inverse = np.asarray(np.ones((), right.dtype) / right)
    exact &= op == "recip" or ~complex_rounds("recip", (right,), inverse)
    return np.asarray(~finite | ~exact | (textbook != made))


def _products(left: Array, right: Array, made: Array) -> tuple[Where, Where]:
    """Return where a product of parts rounds, and where their sum or difference does."""
    part = parts_of(np.asarray(right).dtype)
    open_ = np.zeros(made.shape, np.bool_)
    found = []
    for a, b in ((left.real, right.real), (left.imag, right.imag), (left.real, right.imag), (left.imag, right.real)):
        product = np.asarray(a * b, part)
        open_ = open_ | real_rounds("mul", (a, b), product) | ~np.isfinite(product)
        found.append(product)
    sums = real_rounds("sub", found[:2], made.real) | real_rounds("add", found[2:], made.imag)
    return open_, np.asarray(sums)
