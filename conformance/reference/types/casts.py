"""The casts: the four changes of a state that move nothing."""

from __future__ import annotations

from typing import Final

from conformance.cases.types.axis_type import AxisType, State
from conformance.reference.types.ill_typed import IllTyped

TABLE: Final[frozenset[tuple[State, State]]] = frozenset(
    {("invariant", "varying"), ("invariant", "reduced"), ("varying", "unreduced"), ("reduced", "varying")}
)
"""From which state to which there is a cast. The transpose of each moves: it is a sum, or it is another cast."""


def cast(given: AxisType, axes: tuple[str, ...], to: State) -> AxisType:
    """Return the type after a cast along ``axes``, all of which have one state that the table casts ``to``."""
    state = one_state(given, axes, "cast")
    if (state, to) not in TABLE:
        known = ", ".join(f"{old} to {new}" for old, new in sorted(TABLE))
        raise IllTyped("types.C3", f"there is no cast from {state} to {to} along {list(axes)}; there are {known}")
    return given.along(axes, to)


def one_state(given: AxisType, axes: tuple[str, ...], what: str) -> State:
    """Return the one state along ``axes``; raise ``IllTyped`` where there are several (``types.C4``)."""
    states = given.states(axes)
    if len(states) != 1:
        by_axis = ", ".join(f"{axis}: {given.state(axis)}" for axis in axes)
        raise IllTyped("types.C4", f"{what} needs one state along all axes that it names; the operand has {by_axis}")
    (state,) = states
    return state


def made_varying(given: AxisType, axes: tuple[str, ...], what: str, *, automatic: bool) -> AxisType:
    """Return the type of an operand that ``what`` needs varying along ``axes``.

    Invariant axes are cast where casts are ``automatic`` (``types.C2``); unreduced and reduced ones never are
    (``types.C5``).
    """
    if pending := [axis for axis in axes if given.state(axis) in ("unreduced", "reduced")]:
        raise IllTyped("types.C5", f"{what} takes no operand that is {given.state(pending[0])} along {pending[0]!r}")
    rest = [axis for axis in axes if given.state(axis) == "invariant"]
    if rest and not automatic:
        raise IllTyped("types.C2", f"{what} needs an operand that varies along {rest[0]!r}; it is invariant there")
    return given.along(rest, "varying")
