"""How each element of a result is held against a vector: a number beside it says by which rule.

Complex elements are two parts, the real one first, each of which has a rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical

Rule = Literal["bits", "bits or nan", "equal", "one of", "between", "between or nan", "within", "advised"]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
"""By number: the bits; the bits, or any NaN for a NaN; equal as numbers, or any NaN for a NaN; the bits of one of the
choices, or any NaN where one is; no less than the least and no more than the greatest, of a zero any sign; that, or any
NaN; no farther, as a complex number, than the radius; and whatever it is, it breaks no *must*."""

BITS, BITS_OR_NAN, EQUAL, ONE_OF, BETWEEN, BETWEEN_OR_NAN, WITHIN, ADVISED = range(len(RULES))


@dataclass(frozen=True)
class RightBlock:
    """A block, and which others are right.

    ``array`` is the reference's. ``rules`` has a rule a part, in C order. ``first`` has, for each part and once more,
    where its ``choices`` begin, which are of the dtype of a part. ``low`` and ``high`` are float64 and hold where the
    rule is ``between``, or that or NaN, ``radius``, a float64 an element, where it is ``within``.
    """

    array: Array
    rules: Array
    choices: Array | None = None
    first: Array | None = None
    low: Array | None = None
    high: Array | None = None
    radius: Array | None = None

    @property
    def used(self) -> tuple[Rule, ...]:
        """Return the rules that some part has."""
        return tuple(RULES[number] for number in np.unique(self.rules))


def parts(array: Array) -> Array:
    """Return the elements, or of complex ones the parts, in C order."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def uniform(array: Array, rule: int) -> RightBlock:
    """Return a block that one rule holds for."""
    return RightBlock(array, np.full(parts(array).shape, rule, np.uint8))


def chosen(lists: Sequence[Array | None], dtype: np.dtype[np.generic]) -> tuple[Array, Array]:
    """Return choices behind each other, and where those of each part begin."""
    some = [each if each is not None else np.empty(0, dtype) for each in lists]
    first = np.cumsum([0, *map(len, some)]).astype(np.uint32)
    return np.concatenate(some).astype(dtype) if some else np.empty(0, dtype), first


def inside(low: Fraction | float, high: Fraction | float) -> tuple[float, float]:
    """Return the ends as float64, which has every number of every format between them and none beside."""
    ends = []
    for end, side in ((low, 1), (high, -1)):
        try:
            near = float(end)
        except OverflowError:
            near = math.inf if end > 0 else -math.inf
        if isinstance(end, Fraction) and np.isfinite(near) and (Fraction(near) - end) * side < 0:
            near = float(np.nextafter(near, np.inf * side))
        ends.append(near)
    return ends[0], ends[1]


def keeps(right: RightBlock, given: Array) -> bool:
    """Return whether a block is right; it has the dtype and the shape, and every part keeps its rule."""
    if (given.dtype, given.shape) != (right.array.dtype, right.array.shape):
        return False
    return all(_kept(right, at, parts(right.array), parts(given), given) for at in range(len(right.rules)))


def _kept(right: RightBlock, at: int, wanted: Array, got: Array, given: Array) -> bool:
    rule, value = int(right.rules[at]), got[at : at + 1]
    nan = _is_nan(value)
    if rule == ADVISED:
        return True
    if rule == ONE_OF:
        assert right.choices is not None
        assert right.first is not None
        several = right.choices[right.first[at] : right.first[at + 1]]
        return any(_same(value, several[n : n + 1]) for n in range(len(several)))
    if rule in (BETWEEN, BETWEEN_OR_NAN):
        assert right.low is not None
        assert right.high is not None
        return (rule == BETWEEN_OR_NAN and nan) or bool(right.low[at] <= float(value[0]) <= right.high[at])
    if rule == WITHIN:
        assert right.radius is not None
        element = at // (len(right.rules) // max(given.size, 1))
        far = np.abs(given.reshape(-1)[element] - right.array.reshape(-1)[element])
        return bool(far <= right.radius[element])
    target = wanted[at : at + 1]
    if rule == BITS:
        return value.tobytes() == target.tobytes()
    return _same(value, target) or (rule == EQUAL and not nan and bool(value[0] == target[0]))


def _same(value: Array, other: Array) -> bool:
    return value.tobytes() == other.tobytes() or (_is_nan(value) and _is_nan(other))


def _is_nan(value: Array) -> bool:
    if kind(logical(value.dtype)) != "float":
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(value)[0])


def part_dtype(dtype: str) -> np.dtype[np.generic]:
    """Return the NumPy type of a part of an element."""
    held = NUMPY[dtype]
    return np.zeros(0, held).real.dtype if kind(dtype) == "complex" else held
