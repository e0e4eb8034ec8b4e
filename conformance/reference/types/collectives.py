"""The type that each collective gives its result, one function for each rule of the source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from conformance.cases.types.axis_type import AxisType, State
from conformance.reference.types.casts import cast, made_varying, one_state
from conformance.reference.types.ill_typed import IllTyped


class Typing(NamedTuple):
    """The type of an operand as an operation takes it, automatic casts included, and that of the result."""

    taken: AxisType
    result: AxisType


Rule = Callable[..., Typing]


def all_reduce(given: AxisType, axes: tuple[str, ...], *, automatic: bool, op: str) -> Typing:
    """Give invariant along ``axes``: of a varying or invariant operand, or of the sum of an unreduced one."""
    what = f"all_reduce {op}"
    pending = op in ("sum", "mean") and one_state(given, axes, what) == "unreduced"
    # A maximum or minimum needs no cast where its operand varies along one of the axes.
    some = op in ("max", "min") and "varying" in given.states(axes) and not automatic
    needed = tuple(axis for axis in axes if given.state(axis) != "invariant") if some else axes
    taken = given if pending else made_varying(given, needed, what, automatic=automatic)
    result = taken.along(axes, "invariant")
    if op == "mean" and (result.unreduced or result.reduced):
        raise IllTyped("types.C7", f"a mean divides by an invariant number, and its sum is {result}")
    if op == "mean" and result.varying and not automatic:
        raise IllTyped("types.C2", f"a mean divides by a number that does not vary, and its sum is {result}")
    return Typing(taken, result)


def all_gather(given: AxisType, axes: tuple[str, ...], *, automatic: bool, to: State, **_: Any) -> Typing:
    """Give varying, invariant or reduced along ``axes``, as asked for by ``to``."""
    if to == "reduced" and "varying" not in given.states(axes):
        raise IllTyped("types.C6", f"all_gather to reduced needs an operand that varies along one of {list(axes)}")
    taken = made_varying(given, axes, f"all_gather to {to}", automatic=automatic or to != "varying")
    return Typing(taken, taken.along(axes, to))


def reduce_scatter(given: AxisType, axes: tuple[str, ...], *, automatic: bool, **_: Any) -> Typing:
    """Give varying along ``axes``: of a varying or invariant operand, or of an unreduced one."""
    if one_state(given, axes, "reduce_scatter") == "unreduced":
        return Typing(given, given.along(axes, "varying"))
    taken = made_varying(given, axes, "reduce_scatter", automatic=automatic)
    return Typing(taken, taken)


def moved(given: AxisType, axes: tuple[str, ...], *, automatic: bool, **_: Any) -> Typing:
    """Give varying along ``axes``, for what only moves blocks: all_to_all, permute, its two halves, and shuffle."""
    taken = made_varying(given, axes, "a collective that moves blocks", automatic=automatic)
    return Typing(taken, taken)


def broadcast(given: AxisType, axes: tuple[str, ...], **_: Any) -> Typing:
    """Give varying along ``axes``; the operand must vary there, for this one casts nothing by itself."""
    taken = made_varying(given, axes, "broadcast", automatic=False)
    return Typing(taken, taken)


def casting(given: AxisType, axes: tuple[str, ...], *, to: State, **_: Any) -> Typing:
    """Give the type after a cast, by the table of casts."""
    return Typing(given, cast(given, axes, to))


RULES: Final[dict[str, Rule]] = {
    "all_gather": all_gather,
    "all_reduce": all_reduce,
    "all_to_all": moved,
    "broadcast": broadcast,
    "cast": casting,
    "permute": moved,
    "recv": moved,
    "send": moved,
    "reduce_scatter": reduce_scatter,
    "shuffle": moved,
}
"""The rule of every operation that names mesh axes and has an operand."""
