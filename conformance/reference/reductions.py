"""Reductions of a list of blocks, one function for all operations that reduce."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, overload

import numpy as np

from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.graph.elementwise import identity
from conformance.reference.rejection import Rejected

Terms = list[Array]
"""The blocks that are folded to one, in order."""


def times(left: Array, right: Array) -> Array:
    """Return the product. Of complex numbers it is ``(ac - bd) + (ad + bc)i``, every operation rounded.

    NumPy fuses some of them, on some machines and for some elements of an array.
    """
    if left.dtype.kind != "c":
        return np.asarray(np.multiply(left, right))
    a, b, c, d = left.real, left.imag, right.real, right.imag
    out = np.empty(left.shape, left.dtype)
    out.real, out.imag = a * c - b * d, a * d + b * c
    return out


def greatest(left: Array, right: Array) -> Array:
    """Return the greater element; NaN is greater than any number and +0.0 than -0.0, which NumPy leaves to chance."""
    return _zeros_in_order(left, right, np.maximum(left, right), lower=False)


def least(left: Array, right: Array) -> Array:
    """Return the lesser element; NaN is less than any number and -0.0 than +0.0, which NumPy leaves to chance."""
    return _zeros_in_order(left, right, np.minimum(left, right), lower=True)


def _zeros_in_order(left: Array, right: Array, found: Array, *, lower: bool) -> Array:
    """Return ``found`` with, of two zeros, the negative one or the other one."""
    if kind(logical(left.dtype)) != "float":
        return found
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}.get(left.dtype.itemsize)
    if bits is not None:
        # Comparing floats of 16 bits takes NumPy many times as long as looking at their bits.
        one, other = left.view(bits), right.view(bits)
        chosen = one | other if lower else one & other
        return np.where((one | other) << 1 == 0, chosen, np.asarray(found).view(bits)).view(left.dtype)
    first = np.where(np.signbit(left) == lower, left, right)
    return np.where((left == 0) & (right == 0), first, found)


Operation = Callable[[Array, Array], Array]

ARITHMETIC: Final[dict[str, Operation]] = {"sum": np.add, "mean": np.add, "premul_sum": np.add, "product": times}
ORDER: Final[dict[str, Operation]] = {"max": greatest, "min": least}
BITWISE: Final[dict[str, Operation]] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
REDUCTIONS: Final[dict[str, Operation]] = {**ARITHMETIC, **ORDER, **BITWISE}


def fold(blocks: Sequence[Array], op: str, factor: float = 1.0) -> Array:
    """Return the blocks reduced from the left, in member order.

    bool counts as int32 in sum and product (``reduction.C11``); integers wrap; floats round to their dtype
    after every operation. mean divides the sum once, in float64 for integers and bool (``reduction.C9``, ``C13``).
    premul_sum multiplies every block by ``factor``, rounded to the dtype, first. The count and the factor are real:
    complex numbers are divided and scaled part by part.
    """
    check(logical(blocks[0].dtype), op)
    if blocks[0].dtype == np.bool_ and op in ARITHMETIC:
        blocks = [block.astype(np.int32) for block in blocks]
    dtype = blocks[0].dtype
    with np.errstate(all="ignore"):
        if op == "premul_sum":
            blocks = [by_real(np.multiply, block, factor) for block in blocks]
        if op in ORDER:
            total = _of_neighbours(blocks, ORDER[op])
        else:
            total = functools.reduce(lambda left, right: _as(dtype, REDUCTIONS[op](left, right)), blocks)
        if op == "mean":
            return quotient(np.asarray(total), len(blocks))
    return np.array(total, dtype)


def _of_neighbours(blocks: Sequence[Array], operation: Operation) -> Array:
    """Return the greatest or least of blocks, two neighbours at a time: from the left it is the same, to the bit.

    Thousands of blocks of a few elements took thirty times as long from the left.
    """
    terms = np.stack(blocks)
    while len(terms) > 1:
        even = len(terms) // 2 * 2
        terms = np.concatenate([operation(terms[0:even:2], terms[1:even:2]), terms[even:]])
    return np.asarray(terms[0])


@overload
def folded(terms: Sequence[Terms], op: str, factor: float) -> list[Array]: ...
@overload
def folded(terms: Sequence[Terms | None], op: str, factor: float) -> list[Array | None]: ...
def folded(terms: Sequence[Terms | None], op: str, factor: float) -> list[Any]:
    """Return, for each rank, its terms folded; ranks that share their terms share the result."""
    done = {id(shared): fold(shared, op, factor) for shared in {id(each): each for each in terms if each}.values()}
    return [None if each is None else done[id(each)] for each in terms]


def of_nothing(dtype: np.dtype[Any], op: str, shape: tuple[int, ...]) -> Array:
    """Return the reduction of no terms: the identity of ``op``, and for a mean 0/0."""
    dtype = np.dtype(np.int32) if dtype == np.bool_ and op in ARITHMETIC else dtype
    if op == "mean":
        with np.errstate(all="ignore"):
            return quotient(np.zeros(shape, dtype), 0)
    name = {"sum": "add", "premul_sum": "add", "product": "mul"}.get(op, op)
    return np.full(shape, identity(name, dtype), dtype)


def check(dtype: str, op: str) -> None:
    """Raise ``Rejected`` when ``op`` is no reduction or has no meaning for ``dtype``."""
    if op not in REDUCTIONS:
        raise Rejected("reduction.C14", f"reduction {op!r} is unknown; known are {', '.join(REDUCTIONS)}")
    if op in BITWISE and kind(dtype) not in ("bool", "integer"):
        raise Rejected("reduction.C15", f"{op} of {dtype}: bitwise reductions are for bool and integers")
    if op in ORDER and kind(dtype) == "complex":
        raise Rejected("reduction.C16", f"{op} of {dtype}: complex numbers have no order")
    if op == "premul_sum" and kind(dtype) not in ("float", "complex"):
        raise Rejected("reduction.C17", f"premul_sum of {dtype}: only floats and complex numbers are scaled")


def quotient(total: Array, count: int) -> Array:
    """Return every element divided by a count, rounded once: integers in float64, which is the result's dtype.

    Floats of up to 16 bits are divided in float64, since the count need not be a number of their dtype: float8_e5m2 has
    no 9. The other dtypes hold every count up to 2**24.
    """
    if kind(logical(total.dtype)) == "integer":
        return np.asarray(total.astype(np.float64) / count)
    if total.dtype.itemsize <= 2:
        return narrowed(total.astype(np.float64) / count, total.dtype)
    return by_real(np.divide, total, count)


def narrowed(exact: Array, dtype: np.dtype[Any]) -> Array:
    """Return float64 numbers rounded once to a float of up to 16 bits, to nearest, ties to even.

    They are first cut to float32, and the last bit is set where that was inexact: so the second rounding meets a tie
    only where the number is one.
    """
    with np.errstate(all="ignore"):
        near = exact.astype(np.float32)
        inner = np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
        odd = inner.view(np.uint32) | (inner != exact).astype(np.uint32)
        return _as(dtype, odd.view(np.float32).astype(dtype))


def by_real(operation: np.ufunc, block: Array, number: float) -> Array:
    """Return ``operation`` of every element, or of both its parts, and a real number."""
    if block.dtype.kind != "c":
        return _as(block.dtype, operation(block, np.array(number, block.dtype)))
    out = np.empty(block.shape, block.dtype)
    real = np.array(number, block.real.dtype)
    out.real, out.imag = operation(block.real, real), operation(block.imag, real)
    return out


def _as(dtype: np.dtype[Any], array: Any) -> Array:
    """Return ``array`` in ``dtype``: NumPy turns 4-bit maxima into bytes and 0-d arrays into scalars."""
    return np.asarray(array, dtype)
