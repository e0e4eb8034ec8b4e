"""The type that operations on the blocks of one rank give their result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.cases.types.axis_type import AxisType
from conformance.reference.types.casts import made_varying
from conformance.reference.types.ill_typed import IllTyped

LINEAR: Final = frozenset({"add", "subtract", "negate", "sum"})
"""Operations that a pending sum passes through: of sums they are the sum of what they give."""


def taken(op: str, operands: Sequence[AxisType], *, automatic: bool) -> list[AxisType]:
    """Return the types of operands as a local operation takes them: all vary where one does (``types.C2``)."""
    varying = tuple(sorted({axis for each in operands for axis in each.varying}))
    return [_made_varying(op, each, varying, automatic=automatic) for each in operands]


def local(op: str, cast: Sequence[AxisType]) -> AxisType:
    """Return the type of the result of a local operation on operands as it takes them.

    They must agree: along an axis where one is reduced all are (``types.C8``), where one is unreduced all are, in
    linear operations (``types.C9``), but for a product of an unreduced with a reduced one, which is unreduced
    (``types.C10``).
    """
    _one_reduced(op, cast)
    unreduced = {each.unreduced for each in cast}
    if unreduced == {()}:
        return cast[0].along((axis for each in cast for axis in each.reduced), "reduced")
    if op == "multiply":
        return _product(cast)
    if op not in LINEAR:
        raise IllTyped("types.C9", f"{op} is not linear, and an operand is {cast[0]}")
    if len(unreduced) > 1:
        raise IllTyped("types.C9", f"operands of {op} are unreduced along the same axes; got {_listed(cast)}")
    return cast[0]


def _made_varying(op: str, given: AxisType, varying: tuple[str, ...], *, automatic: bool) -> AxisType:
    rest = tuple(axis for axis in varying if axis not in given.varying)
    if automatic and rest and given.reduced == rest:
        return given.along(rest, "varying")
    return made_varying(given, rest, op, automatic=automatic)


def _one_reduced(op: str, operands: Sequence[AxisType]) -> None:
    reduced = {each.reduced for each in operands if each.reduced}
    if len(reduced) > 1:
        raise IllTyped("types.C8", f"operands of {op} are reduced along the same axes; got {_listed(operands)}")
    for axis in (axis for axes in reduced for axis in axes):
        if any(each.state(axis) in ("invariant", "varying") for each in operands):
            raise IllTyped("types.C8", f"along {axis!r} an operand of {op} is reduced; got {_listed(operands)}")


def _product(operands: Sequence[AxisType]) -> AxisType:
    left, right = operands
    if left.unreduced and right.unreduced:
        raise IllTyped("types.C10", f"the product of two pending sums is not one; got {_listed(operands)}")
    pending, other = (left, right) if left.unreduced else (right, left)
    if pending.unreduced != other.reduced:
        raise IllTyped(
            "types.C10", f"a factor is reduced exactly where the other is unreduced; got {_listed(operands)}"
        )
    return pending


def _listed(operands: Sequence[AxisType]) -> str:
    return ", ".join(f"({each})" for each in operands)
