"""The pairing of a value with a cotangent, and what a cotangent's type is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

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


def cotangent_type(given: AxisType) -> AxisType:
    """Return the type of the cotangent of a value."""
    return of({axis: COTANGENT[state] for axis, state in given.by_axis.items()})


def pairing(mesh: Sequence[Axis], given: AxisType, value: Sequence[Array], cotangent: Sequence[Array]) -> Fraction:
    """Return the sum of the products of all elements, exact: over the ranks, but once along an invariant axis.

    Along an axis where the value is varying, unreduced or reduced the products of all ranks add up: of an unreduced
    value the blocks are the terms of its sum, and of a reduced one the cotangent's are.
    """
    invariant = tuple(axis.name for axis in mesh if given.state(axis.name) == "invariant")
    counted = [line[0] for line in lines(tuple(mesh), invariant)]
    return sum((_product(value[rank], cotangent[rank]) for rank in counted), Fraction(0))


def _product(left: Array, right: Array) -> Fraction:
    pairs = zip(left.reshape(-1).tolist(), right.reshape(-1).tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
