"""The type of a value: for each mesh axis one state.

An *invariant* value is the same on all ranks along the axis. A *varying* one may differ. An *unreduced* one stands for
the sum of its blocks along the axis, which is still to be made. A *reduced* one is the same on all ranks along the
axis, and its cotangent is unreduced there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

import msgspec

State = Literal["invariant", "varying", "unreduced", "reduced"]

STATES: Final[tuple[State, ...]] = get_args(State)


class AxisType(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The axes along which a value is varying, unreduced or reduced, each in the order of the alphabet.

    It is invariant along every other axis. No axis is in two of the three.
    """

    varying: tuple[str, ...] = ()
    unreduced: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ``ValueError`` where an axis is named twice, or axes are not in order."""
        named = (*self.varying, *self.unreduced, *self.reduced)
        if len(set(named)) != len(named):
            raise ValueError(f"an axis has one state; got {self}")
        if any(list(axes) != sorted(axes) for axes in (self.varying, self.unreduced, self.reduced)):
            raise ValueError(f"the axes of a state are in the order of the alphabet; got {self}")

    def state(self, axis: str) -> State:
        """Return the state along one axis."""
        if axis in self.varying:
            return "varying"
        if axis in self.unreduced:
            return "unreduced"
        return "reduced" if axis in self.reduced else "invariant"

    def states(self, axes: Iterable[str]) -> frozenset[State]:
        """Return the states along several axes."""
        return frozenset(self.state(axis) for axis in axes)

    def along(self, axes: Iterable[str], state: State) -> AxisType:
        """Return the type that has ``state`` along ``axes`` and is the same along all others."""
        changed = [axis for axis in axes if self.state(axis) != state]
        return of(self.by_axis | dict.fromkeys(changed, state)) if changed else self

    @property
    def by_axis(self) -> dict[str, State]:
        """Return the state along each axis that is not invariant."""
        found: dict[str, State] = dict.fromkeys(self.varying, "varying")
        return found | dict.fromkeys(self.unreduced, "unreduced") | dict.fromkeys(self.reduced, "reduced")

    def __str__(self) -> str:
        """Return the words of the type, ``varying i, j; reduced k``."""
        words = ((state, getattr(self, state)) for state in STATES[1:])
        return "; ".join(f"{state} {', '.join(axes)}" for state, axes in words if axes) or "invariant"


INVARIANT: Final = AxisType()


def of(states: Mapping[str, State]) -> AxisType:
    """Return the type with these states by axis; every other axis is invariant."""
    return AxisType(**{each: tuple(sorted(a for a, s in states.items() if s == each)) for each in STATES[1:]})
