"""The pairing of a value with a cotangent, and what a cotangent's type is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from conformance.cases.program.program import Axis, lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType, State, of

COTANGENT: Final[dict[State, State]] = {
    "invariant": "invariant",
    "varying": "varying",
    "unreduced": "reduced",
    "reduced": "unreduced",
}
"""The state of the cotangent of a value in a state. Each is that of the other: the table is its own inverse."""


class Exact(NamedTuple):
    """A complex number without rounding; a real one has zero for its imaginary part."""

    real: Fraction
    imaginary: Fraction

    def __str__(self) -> str:
        """Return the number as people write it."""
        return f"{self.real} + {self.imaginary}i" if self.imaginary else str(self.real)


def cotangent_type(given: AxisType) -> AxisType:
    """Return the type of the cotangent of a value."""
    return of({axis: COTANGENT[state] for axis, state in given.by_axis.items()})


def pairing(mesh: Sequence[Axis], given: AxisType, value: Sequence[Array], cotangent: Sequence[Array]) -> Exact:
    """Return the sum of the products of all elements, exact: over the ranks, but once along an invariant axis.

    Along an axis where the value is varying, unreduced or reduced the products of all ranks add up: of an unreduced
    value the blocks are the terms of its sum, and of a reduced one the cotangent's are. Nothing is conjugated.
    """
    invariant = tuple(axis.name for axis in mesh if given.state(axis.name) == "invariant")
    counted = [line[0] for line in lines(tuple(mesh), invariant)]
    return total(_product(value[rank], cotangent[rank]) for rank in counted)


def total(terms: Iterable[Exact]) -> Exact:
    """Return the sum of exact numbers."""
    found = list(terms)
    zero = Fraction(0)
    return Exact(sum((each.real for each in found), zero), sum((each.imaginary for each in found), zero))


def _product(left: Array, right: Array) -> Exact:
    if not (np.iscomplexobj(left) or np.iscomplexobj(right)):
        return Exact(_dot(left, right), Fraction(0))
    a, b, c, d = np.real(left), np.imag(left), np.real(right), np.imag(right)
    return Exact(_dot(a, c) - _dot(b, d), _dot(a, d) + _dot(b, c))


def _dot(left: Array, right: Array) -> Fraction:
    pairs = zip(_exact(left), _exact(right), strict=True)
    return Fraction(sum(a * b for a, b in pairs))


def _exact(block: Array) -> list[Fraction | int]:
    """Return the elements without rounding, whole numbers as such: arithmetic on those is a tenth of the work."""
    numbers = block.reshape(-1).tolist()
    return [int(number) if number == int(number) else Fraction(number) for number in numbers]
