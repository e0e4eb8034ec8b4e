"""The type that each collective gives its result, one function for each rule of the source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.cases.types.axis_type import AxisType, State, of
from conformance.reference.types.casts import cast, made_varying, one_state
from conformance.reference.types.ill_typed import IllTyped

Rule = Callable[..., AxisType]


def all_reduce(given: AxisType, axes: tuple[str, ...], *, automatic: bool, op: str) -> AxisType:
    """Return invariant along ``axes``: of a varying or invariant operand, or of the sum of an unreduced one."""
    if op in ("max", "min"):
        return made_varying(given, axes, f"all_reduce {op}", automatic=automatic).along(axes, "invariant")
    if one_state(given, axes, f"all_reduce {op}") != "unreduced":
        given = made_varying(given, axes, f"all_reduce {op}", automatic=automatic)
    if op == "mean" and (given.unreduced or given.reduced) and set(given.unreduced) != set(axes):
        raise IllTyped("types.C7", f"a mean divides by an invariant number; its operand is {given}")
    return given.along(axes, "invariant")


def all_gather(given: AxisType, axes: tuple[str, ...], *, automatic: bool, to: State, **_: Any) -> AxisType:
    """Return varying, invariant or reduced along ``axes``, as asked for by ``to``."""
    if to == "reduced" and "varying" not in given.states(axes):
        raise IllTyped("types.C6", f"all_gather to reduced needs an operand that varies along one of {list(axes)}")
    automatic = automatic or to != "varying"
    return made_varying(given, axes, f"all_gather to {to}", automatic=automatic).along(axes, to)


def reduce_scatter(given: AxisType, axes: tuple[str, ...], *, automatic: bool, **_: Any) -> AxisType:
    """Return varying along ``axes``: of a varying or invariant operand, or of an unreduced one."""
    if one_state(given, axes, "reduce_scatter") == "unreduced":
        return given.along(axes, "varying")
    return made_varying(given, axes, "reduce_scatter", automatic=automatic)


def moved(given: AxisType, axes: tuple[str, ...], *, automatic: bool, **_: Any) -> AxisType:
    """Return varying along ``axes``, for what only moves blocks: all_to_all, permute and shuffle."""
    return made_varying(given, axes, "a collective that moves blocks", automatic=automatic)


def broadcast(given: AxisType, axes: tuple[str, ...], **_: Any) -> AxisType:
    """Return varying along ``axes``; the operand must vary there, for this one casts nothing by itself."""
    return made_varying(given, axes, "broadcast", automatic=False)


def axis_index(axes: tuple[str, ...], **_: Any) -> AxisType:
    """Return varying along ``axes``."""
    return of(dict.fromkeys(axes, "varying"))


def casting(given: AxisType, axes: tuple[str, ...], *, to: State, **_: Any) -> AxisType:
    """Return the type after a cast, by the table of casts."""
    return cast(given, axes, to)


RULES: Final[dict[str, Rule]] = {
    "all_gather": all_gather,
    "all_reduce": all_reduce,
    "all_to_all": moved,
    "broadcast": broadcast,
    "cast": casting,
    "permute": moved,
    "reduce_scatter": reduce_scatter,
    "shuffle": moved,
}
"""The rule of every operation that names mesh axes and has an operand."""
