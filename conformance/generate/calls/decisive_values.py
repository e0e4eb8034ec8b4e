"""Values for reductions whose order of operations, or whose special values, decide the result."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.judging.numbers.facts import GRADUAL, HALF
from conformance.judging.numbers.precision import precision


class Family(NamedTuple):
    """Values that decide results of sums, products or maxima, as ``op`` says.

    ``number`` is how many meet, where values depend on that, or of ``rung`` which of the ``RUNGS``.
    """

    op: str
    name: str
    number: int = 0


Values = str | Family
"""What the data of a case are drawn from: values by the name of a reduction or a use (``values.pool``), or a family."""

ADDED: Final = (
    *("near", "wide", "large", "nan", "zeros", "minus_zeros", "infinite", "minus_infinite", "opposite"),
    *("subnormal", "overflow", "minus_overflow", "past"),
)
"""Families for sum, mean and premul_sum."""

MULTIPLIED: Final = ("near", "nan", "signed_zeros", "infinite", "zero_infinite", "subnormal", "overflow", "past")
"""Families for product."""

COMPLEX_MULTIPLIED: Final = ("near", "nan", "infinite", "zeros", "past")
"""Families for product of complex numbers."""

COMPARED: Final = ("zeros", "below_zero", "above_zero", "subnormal")
"""Families for max and min: zeros alone, with numbers on one side of them, and with subnormal ones on both."""

MIXED: Final = {
    "sum": ("near", "nan", "wide", "infinite", "zeros", "opposite", "overflow", "past", "minus_infinite", "large"),
    "product": ("near", "nan", "signed_zeros", "infinite", "past", "zero_infinite", "overflow"),
}
"""Families that the elements of one block take in turn: those of which no *should* settles a value."""

CHOICES: Final = ("partial_subnormal", "near", "barely", "overflow", "past", "pair", "subnormal")
"""Families for sum, mean and premul_sum that elements take in turn, with the ``RUNGS`` of the dtype, to tell what is
chosen about numbers."""

ALONE: Final = ("partial_subnormal", "pair")
"""Those of them whose values show nothing when one comes twice; nor do the ``RUNGS``."""

RUNGS: Final[dict[str, tuple[tuple[float, ...], ...]]] = {
    "float8_e4m3fn": (
        (44.0, -0.001953125, 0.9375, 0.9375),
        (1.125, 0.00390625, 1.0),
        (36.0, -2.0, 0.001953125, 0.0078125),
        (1.0, 0.0625, 0.00390625, 0.0625),
    ),
    "float8_e5m2": (
        (40.0, 4.0, 0.015625, -0.15625),
        (1.75, 0.125, 6.103515625e-05, -0.0006103515625),
        (40.0, -0.001708984375, 0.0009765625, 4.0),
        (1.0, 0.125, 0.0078125, 0.125),
    ),
    "float16": (
        (256.0, 0.062469482421875, 256.25),
        (1.0009765625, 0.00048828125, -(2.0**-24)),
        (256.0, 0.125, 2.0**-20, 0.125),
    ),
    "bfloat16": (
        (1.0234375, 2.0**-34, 1.0, -7.776543498039246e-08, -0.0009765625),
        (1.0, -2.346496330574155e-10, -1.0, -(2.0**-63), 1.1596057447604835e-10),
        (1.0, 2.0**-8, 2.0**-18, 2.0**-8),
    ),
    "float32": (
        (1.0000001192092896, 1.0, 2.0**-26),
        (1.0, 2.0**-24, 1.6155871338926322e-27, 5.421011508662376e-20),
        (1.0, 2.0**-24, 2.0**-50, 2.0**-24),
    ),
    "float64": ((1.0, 2.0**-53 + 2.0**-65),),
}
"""Terms that come to one result, whatever the tree, in the accumulators that see their last bits, and to another
in those that do not; found by trying, for every two accumulators of a dtype that any terms tell apart."""

INFINITE: Final = ("infinite", "minus_infinite", "opposite", "zero_infinite")
"""Families of formats with infinities; float8_e4m3fn has none."""


def telling_families(dtype: str, op: str) -> tuple[Family, ...]:
    """Return the families that tell, of sums of a dtype, what is chosen about numbers."""
    rungs = (Family(op, "rung", number) for number in range(len(RUNGS[dtype_of_parts(dtype)])))
    return (*(Family(op, name) for name in CHOICES), *rungs)


def families(dtype: str, op: str) -> tuple[Family, ...]:
    """Return the families that elements of a dtype take in turn, for ``sum``, ``product`` or ``max``."""
    return tuple(Family(op, name) for name in _names(dtype, op))


def _names(dtype: str, op: str) -> tuple[str, ...]:
    if op == "max":
        return COMPARED if dtype in GRADUAL else COMPARED[:3]
    if NUMPY[dtype].kind == "c" and op == "product":
        return COMPLEX_MULTIPLIED
    found = (*MIXED[op][:2], "subnormal", *MIXED[op][2:]) if dtype in GRADUAL else MIXED[op]
    if dtype == "float8_e4m3fn":
        found = tuple(name for name in found if name not in (*INFINITE, "overflow"))
    return found


def sensitive(dtype: str, family: Family) -> Array:
    """Return the values of a family in a float or complex dtype."""
    numpy, form = NUMPY[dtype], precision(dtype)
    if numpy.kind == "c" and family.op == "product":
        return np.array(_complex(family, float(form.greatest))).astype(numpy)
    with np.errstate(over="ignore"):
        reals = np.array([float(value) for value in _reals(family, form.digits, dtype)]).astype(
            numpy if numpy.kind != "c" else f"f{numpy.itemsize // 2}"
        )
    if numpy.kind != "c":
        return reals
    both = np.empty(len(reals), numpy)
    both.real, both.imag = reals, np.roll(reals, 1)
    if not np.isfinite(reals).all():
        # Else both parts of a sum over all the values would be special. In which part they are is for the dtype to say.
        beside = np.resize(reals[np.isfinite(reals)], len(reals))
        both.real, both.imag = (reals, beside) if dtype == "complex64" else (beside, reals)
    return both


def _complex(family: Family, greatest: float) -> list[complex]:
    """Return the values of a family for products of complex numbers.

    Products of as many as ``past`` says are past the greatest number in one part, and of fewer in none.
    """
    infinite, nan = float("inf"), float("nan")
    far = 2.0 ** (math.frexp(greatest)[1] // ((family.number or 2) - 1) - 1)
    return {
        "near": [1 + 0.7j, 0.6 - 0.8j, 1.1 + 0.3j, -0.9 + 0.5j, 0.8 + 0.6j],
        "nan": [complex(nan, 1), 2 + 0j, complex(-1.25, nan), 0.5 + 0j, 0.75 + 1j],
        "infinite": [
            complex(infinite, 1),
            2 + 0j,
            complex(1.5, -infinite),
            complex(infinite, infinite),
            1 - 0.5j,
            2 + 1j,
        ],
        "zeros": [0j, -1 + 0.5j, complex(-0.0, 0.0), -1 - 2j, complex(0.0, -0.0), 1.5 - 0.5j],
        "past": [complex(far, 0.25), complex(far, -0.125), complex(-far, 0.25)],
    }[family.name]


def _reals(family: Family, digits: int, dtype: str) -> list[Fraction | float]:
    """Return the values of a family, before they are rounded to the format."""
    form = precision(dtype)
    unit, least, normal, greatest = form.unit, form.least, form.normal, form.greatest
    whole = Fraction(2**digits)
    if family.op == "product":
        products: dict[str, list[Fraction | float]] = {
            "near": [1 + 2 * unit, 6.1, 0.19, 1.1, -1.3, 0.9],
            "nan": [float("nan"), 1.5, 1.0, -1.25, 0.75],
            "signed_zeros": [0.0, -1.0, -0.0, 1.5, -1.25],
            "infinite": [float("inf"), -1.5, 1.0, float("-inf"), -0.75],
            "zero_infinite": [float("inf"), 0.0, -1.0, 1.5],
            "subnormal": [normal, 0.75, 1.0, -1.5, 3 * least],
            "overflow": [greatest, 2.0, -greatest, 1.5],
            "past": [greatest, 4.0, 0.25, -1.5],
        }
        return products[family.name]
    if family.op == "max":
        compared: dict[str, list[Fraction | float]] = {
            "zeros": [0.0, -0.0],
            "below_zero": [-0.0, -1.5, 0.0, -normal, -0.0],
            "above_zero": [0.0, 2.0, -0.0, normal, -0.0],
            "subnormal": [least, -least, 0.0, -0.0, 3 * least],
        }
        return compared[family.name]
    if family.name == "rung":
        return list(RUNGS[dtype_of_parts(dtype)][family.number])
    if family.name == "barely":
        return _barely(digits, max(family.number, 2))
    large: list[Fraction | float] = (
        [70000.0, 30000.0, -40000.0, 100000.0, 65536.0] if greatest > 16 * HALF else [greatest / 9, 3.0, -1.0]
    )
    sums: dict[str, list[Fraction | float]] = {
        "near": [1 + 2 * unit, 0.7, -0.3, 1 / 3, 1.9, 3 * unit],
        "wide": [1.0, whole, -whole, unit, 3 * unit, whole + 2, -1.5],
        "large": large,
        "nan": [float("nan"), 1.0, 2.0, -1.0, 0.5],
        "zeros": [0.0, -0.0, 1.0, -1.0],
        "minus_zeros": [-0.0],
        "infinite": [float("inf"), 1.0, -2.0, 0.5],
        "minus_infinite": [float("-inf"), 1.0, -2.0, 0.5],
        "opposite": [float("inf"), float("-inf"), 1.0, 0.5],
        "subnormal": [least, -3 * least, normal, normal - least, -normal, 5 * least],
        "partial_subnormal": [normal * 3 / 2, -normal, 2 * normal],
        "pair": [0.5625, 0.029296875, 0.0] if digits == 4 else [1.0, unit + unit**2 * 4, 0.0],
        "overflow": [greatest, greatest / 2, greatest * 3 / 4],
        "minus_overflow": [-greatest, -greatest / 2, -greatest * 3 / 4],
        "past": [greatest, 1.0, -greatest, greatest / 2, -greatest / 2],
    }
    return sums[family.name]


def dtype_of_parts(dtype: str) -> str:
    """Return the dtype of the parts of a number: its own unless it is complex."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def _barely(digits: int, count: int) -> list[Fraction | float]:
    """Return integers of which ``count`` come to little more than any that their format holds all integers up to.

    Only the last additions round, so a result without one of them is one of no tree.
    """
    base = max(2**digits // count, 1)
    return [Fraction(base + more) for more in (1, 0, 3, 2, 1)]
