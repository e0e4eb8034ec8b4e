"""One value that was given, held against what it means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.reference.graph.bounds import unit_roundoff
from conformance.reference.graph.carried import APART, EXCESS, INFINITE, LOST, SUBNORMAL
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.graph.rounding import BESIDE, EITHER, LOOSE, UNKNOWN
from conformance.reference.graph.slack import radius, vacuous

Where = NDArray[np.bool_]


def unlike(meant: BoundedValue, given: Tensor) -> str | None:
    """Return how dtype or shape differ, or which bool that may be either has the bits of neither."""
    dtype, shape = logical(meant.array.dtype), meant.array.shape
    if (given.dtype, given.shape) != (dtype, shape):
        return f"{given.dtype} {list(given.shape)} was given; {dtype} {list(shape)} is right"
    if dtype != "bool" or not meant.slack.bits & UNKNOWN:
        return None
    held, open_ = to_array(given).view(np.uint8), (meant.slack.mask & np.uint16(UNKNOWN)) > 0
    return _first((held > 1) & open_, held, held & 1, "or the other bool is right")


def same_bits(meant: BoundedValue, given: Array) -> bool:
    """Return whether a value of the right dtype and shape has the bits of what it means, which are always right."""
    return given.tobytes() == meant.array.tobytes()


def judged(meant: BoundedValue, numbers: NumberModel) -> Where:
    """Return which elements a *must* is about: those beside a NaN, or of numbers of the model's choice, are not."""
    return np.asarray(_kept(meant, numbers) & ((meant.slack.mask & np.uint16(BESIDE)) == 0))


def _kept(meant: BoundedValue, numbers: NumberModel) -> Where:
    """Return which elements are made of nothing that the number model chooses.

    That is subnormal numbers where those of any dtype are flushed, infinities of 8 bits where the conversion to any
    dtype saturates, and where intermediate values have more than 16 bits what overflows in them, and what jumps by what
    they round off: they may be on the way to every other.
    """
    chosen = {(name, word) for _, name, word in numbers.chosen}
    bits = (SUBNORMAL if any(name == "subnormals" for name, _ in chosen) else 0) | (
        INFINITE if ("overflow", "saturated") in chosen else 0
    )
    bits |= (EXCESS | LOST) if ("intermediates", "excess") in chosen else 0
    return np.asarray((meant.slack.mask & np.uint16(bits)) == 0)


def fixed(meant: BoundedValue, numbers: NumberModel) -> Where:
    """Return which elements have one right value, and that one form: no other zero, no other bits."""
    loose = (meant.slack.mask & np.uint16(LOOSE)) > 0
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        zero = (meant.array.real == 0) | (meant.array.imag == 0) if meant.array.dtype.kind == "c" else meant.array == 0
    return np.asarray(judged(meant, numbers) & ~_several(meant, numbers) & ~(loose & zero))


def _several(meant: BoundedValue, numbers: NumberModel) -> Where:
    """Return of which elements several values are right."""
    return np.asarray(((meant.slack.mask & np.uint16(UNKNOWN)) > 0) | _apart(meant, numbers))


def _apart(meant: BoundedValue, numbers: NumberModel) -> Where:
    """Return which elements are made of what 16 bits rounded, or did not where intermediate values have more."""
    excess = any((name, word) == ("intermediates", "excess") for _, name, word in numbers.chosen)
    return np.asarray((meant.slack.mask & np.uint16(APART if excess else 0)) > 0)


def off(meant: BoundedValue, given: Tensor, numbers: NumberModel) -> str | None:
    """Return which element, where one value is right, has other bits; zeros and NaNs that were computed have any."""
    got, made = to_array(given), meant.array
    if not meant.slack.bits:  # every element has one right value, and that has one form
        return _first(~_same(got, made), got, made, "is right")
    wrong = judged(meant, numbers) & ~_several(meant, numbers) & ~_alike(meant, got)
    return _first(wrong, got, made, "is right")


def beyond(meant: BoundedValue, given: Tensor, numbers: NumberModel) -> str | None:
    """Return which element, where several values are right, is farther from them than any admitted order takes it."""
    got, made = to_array(given), meant.array
    if kind(logical(made.dtype)) not in ("float", "complex"):
        return None
    reach, wide = radius(meant.slack, made), np.complex128 if made.dtype.kind == "c" else np.float64
    open_ = judged(meant, numbers) & _several(meant, numbers) & np.isfinite(reach)
    if open_.any() and meant.slack.bits & APART:
        open_ &= ((meant.slack.mask & np.uint16(UNKNOWN)) > 0) | ~vacuous(meant.slack.k, meant.slack.m, made)
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(wide) - made.astype(wide)) <= reach
        if meant.slack.ends is not None and (open_ & near).any():
            low, high = meant.slack.ends()
            near &= (low <= got.astype(np.float64)) & (got.astype(np.float64) <= high)
    wrong = open_ & ~near
    if not wrong.any():
        return None
    at = tuple(int(each) for each in np.argwhere(wrong)[0])
    return f"{_first(wrong, got, made, 'is right')}, and at most {reach[at]:.3g} from it"


def bounded(meant: BoundedValue) -> bool:
    """Return whether some element has a bound, and is beside no NaN."""
    if not meant.slack.bits & UNKNOWN:
        return False
    unknown = (meant.slack.mask & np.uint16(UNKNOWN | BESIDE)) == UNKNOWN
    return bool((unknown & np.isfinite(radius(meant.slack, meant.array))).any())


def settled(meant: BoundedValue) -> bool:
    """Return whether some element has one right value: not one beside a NaN."""
    several = np.uint16(UNKNOWN | BESIDE)
    return not meant.slack.bits & int(several) or bool(((meant.slack.mask & several) == 0).any())


def one_right(meant: BoundedValue) -> bool:
    """Return whether some element has one right value that a *must* asks for; so has a value without elements."""
    free = np.uint16(UNKNOWN | BESIDE)
    return not meant.slack.bits & int(free) or bool(((meant.slack.mask & free) == 0).any())


def told(meant: BoundedValue) -> bool:
    """Return whether a *must* says something of some element: which value it has, or how near that is."""
    return one_right(meant) or bounded(meant)


def zero_signs(meant: BoundedValue, given: Tensor, numbers: NumberModel) -> str | None:
    """Return which computed zero has the other sign."""
    got, made = to_array(given), meant.array
    zeros = settled_zeros(meant, numbers) & (got == 0)
    return _first(zeros & (np.signbit(got) != np.signbit(made)), got, made, "is right")


def settled_zeros(meant: BoundedValue, numbers: NumberModel) -> Where:
    """Return which elements are zeros of a settled sign that the number model changes nothing of."""
    return np.asarray(signed_zeros(meant) & judged(meant, numbers) & ~_several(meant, numbers))


def signed_zeros(meant: BoundedValue) -> Where:
    """Return which elements are zeros that one operation gave, of one right value, and of a sign that is settled."""
    if kind(logical(meant.array.dtype)) != "float":
        return np.zeros(meant.array.shape, np.bool_)
    loose = (meant.slack.mask & np.uint16(LOOSE | UNKNOWN | EITHER)) == LOOSE
    with np.errstate(invalid="ignore"):  # NumPy warns of comparing NaNs that signal
        return np.asarray(loose & (meant.array == 0))


def beside_nan(meant: BoundedValue, given: Tensor, numbers: NumberModel) -> str | None:
    """Return which maximum or minimum of a NaN is no NaN."""
    got, made = to_array(given), meant.array
    return _first(settled_beside(meant, numbers) & ~_alike(meant, got), got, made, "is right")


def settled_beside(meant: BoundedValue, numbers: NumberModel) -> Where:
    """Return which elements are beside a NaN alone, and made of nothing that the number model chooses."""
    return np.asarray(beside(meant) & _kept(meant, numbers))


def beside(meant: BoundedValue) -> Where:
    """Return which elements are made of a maximum or a minimum of a NaN, and are otherwise settled."""
    return np.asarray((meant.slack.mask & np.uint16(BESIDE | UNKNOWN)) == BESIDE)


def recommended(meant: BoundedValue, bit: int, numbers: NumberModel) -> Where:
    """Return which elements that have a bit a value is recommended for.

    Those of flushed numbers, where they are flushed, are not among them, nor are complex ones: no source says how they
    round.
    """
    if meant.array.dtype.kind == "c":
        return np.zeros(meant.array.shape, np.bool_)
    has = (meant.slack.mask & np.uint16(bit)) > 0
    return np.asarray(has & judged(meant, numbers) & ~_apart(meant, numbers))


def unrecommended(meant: BoundedValue, given: Tensor, asked: Where, ulps: float) -> str | None:
    """Return which element of those asked for is more than so many units in the last place from what NumPy gives."""
    got, made = to_array(given), meant.array
    if kind(logical(made.dtype)) != "float":
        return _first(asked & ~_alike(meant, got), got, made, "is recommended")
    with np.errstate(all="ignore"):
        wide, right = got.astype(np.float64), made.astype(np.float64)
        unit = 2.0 * unit_roundoff(logical(made.dtype)) * 2.0 ** np.floor(np.log2(np.abs(right)))
        near = (np.abs(wide - right) <= ulps * unit) | ~np.isfinite(right) | (right == 0)
    return _first(asked & ~near & ~_alike(meant, got), got, made, "is recommended")


def _alike(meant: BoundedValue, got: Array) -> Where:
    """Return which elements have the same bits, or are two computed zeros, or two computed NaNs, part by part."""
    made, same = meant.array, _same(got, meant.array)
    if kind(logical(made.dtype)) not in ("float", "complex"):
        return same
    loose = (meant.slack.mask & np.uint16(LOOSE | BESIDE)) > 0
    with np.errstate(all="ignore"):
        if made.dtype.kind == "c":
            both = _parts_alike(got, made)
        else:
            both = ((got == 0) & (made == 0)) | ((got != got) & (made != made))  # noqa: PLR0124 - NaN differs from itself
    return np.asarray(same | (loose & both))


def _parts_alike(got: Array, made: Array) -> Where:
    parts = [(got.real, made.real), (got.imag, made.imag)]
    return np.asarray(np.logical_and.reduce([(a == b) | (np.isnan(a) & np.isnan(b)) for a, b in parts]))


def _same(got: Array, made: Array) -> Where:
    width = made.dtype.itemsize
    sides = [np.frombuffer(np.ascontiguousarray(each).tobytes(), np.uint8).reshape(-1, width) for each in (got, made)]
    return np.asarray((sides[0] == sides[1]).all(axis=1).reshape(made.shape))


def _first(wrong: Where, got: Array, made: Array, words: str) -> str | None:
    if not wrong.any():
        return None
    at = tuple(int(each) for each in np.argwhere(wrong)[0])
    return f"element {list(at)} is {_shown(got[at])}; {_shown(made[at])} {words}"


def _shown(element: Any) -> str:
    """Return an element as people read it, with its bits where they tell more."""
    text = str(element.item() if hasattr(element, "item") and element.dtype.kind in "biu" else element)
    if text.lower() in ("nan", "0.0", "-0.0", "0"):
        return f"{text} (0x{np.asarray(element).tobytes()[::-1].hex()})"
    return text
