"""What every operation asks of its attributes, its groups, its axes and its extents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from conformance.backends.opencl.graph import rejections as no
from conformance.cases.program.program import Groups

Shape = tuple[int, ...]
Attrs = dict[str, Any]

NUMBERS: Final = tuple[int, ...]
ROWS: Final = tuple[tuple[int, ...], ...]

WANTED: Final[dict[str, dict[str, Any]]] = {}
"""The operations and the types of their attributes, as each says where it is made."""


def takes(operation: str, **types: Any) -> None:
    """Say that the engine has an operation, and the types of its attributes."""
    WANTED[operation] = types


DEFAULTS: Final[Attrs] = {"factor": 1.0, "local_axes": ()}
"""Attributes that may be left out, and what they are then."""


def attributes(operation: str, given: Mapping[str, Any]) -> Attrs:
    """Return the attributes in their types, defaults filled in; raise a ``RejectionError`` for wrong ones."""
    if operation not in WANTED:
        raise no.UnknownOperationError(f"unknown operation {operation!r}; known are {', '.join(sorted(WANTED))}")
    wanted = WANTED[operation]
    if not set(wanted) - set(DEFAULTS) <= set(given) <= set(wanted):
        raise no.WrongAttributesError(f"{operation} takes the attributes {sorted(wanted)}, got {sorted(given)}")
    found = {name: DEFAULTS[name] for name in wanted if name in DEFAULTS}
    for name, value in given.items():
        try:
            found[name] = msgspec.convert(value, wanted[name])
        except msgspec.ValidationError as error:
            kind = getattr(wanted[name], "__name__", str(wanted[name]))
            raise no.WrongAttributesError(f"{operation}: {name} must be {kind}, got {value!r} ({error})") from None
    return found


def partitioned(groups: Groups, world: int) -> None:
    """Demand that ``groups`` name each of ``world`` ranks exactly once and that none is empty."""
    named = sorted(rank for group in groups for rank in group)
    if named != list(range(world)) or not all(groups):
        raise no.GroupsNotPartitionError(
            f"groups {list(groups)} must name each of the {world} ranks exactly once, none of them empty"
        )


def equal_size(groups: Groups) -> int:
    """Return the size that all groups share."""
    sizes = sorted({len(group) for group in groups})
    if len(sizes) != 1:
        raise no.UnequalGroupsError(f"groups must have one size, for all ranks share one shape; got sizes {sizes}")
    return sizes[0]


def axis_of(axis: int, rank: int, what: str) -> int:
    """Return ``axis`` counted from the front of ``rank`` axes."""
    if not -rank <= axis < rank:
        raise no.AxisOutOfRangeError(f"{what} {axis} is outside [{-rank}, {rank - 1}]")
    return axis % rank


def root_in(groups: Groups, root: int) -> None:
    """Demand that ``root`` is a position of every group."""
    for group in groups:
        if not 0 <= root < len(group):
            raise no.PositionOutOfRangeError(
                f"root {root} is no position in a group of {len(group)}: 0 to {len(group) - 1} are"
            )


def pairs_in(pairs: tuple[tuple[int, ...], ...], size: int) -> None:
    """Demand (source, destination) pairs of ``size`` positions, no source twice and no destination twice."""
    for pair in pairs:
        if len(pair) != 2:
            raise no.WrongAttributesError(f"a pair is (source, destination), got {pair!r}")
        for end in pair:
            if not 0 <= end < size:
                raise no.PositionOutOfRangeError(
                    f"pair {pair} leaves the group of {size}: positions are 0 to {size - 1}"
                )
    for side, what in ((0, "source"), (1, "destination")):
        ends = [pair[side] for pair in pairs]
        if len(set(ends)) != len(ends):
            raise no.PositionRepeatedError(f"pairs {list(pairs)} name a {what} twice; each may appear once")


def piece_shape(shape: Shape, axis: int, size: int, *, tiled: bool) -> Shape:
    """Return the shape of one of ``size`` pieces along ``axis``; untiled pieces lose the axis."""
    extent = shape[axis]
    if tiled and extent % size:
        raise no.ExtentIndivisibleError(f"extent {extent} of axis {axis} does not divide into {size} equal pieces")
    if not tiled and extent != size:
        raise no.ExtentUnequalError(
            f"extent {extent} of axis {axis} must equal the group size {size}, one slice a member"
        )
    kept = (extent // size,) if tiled else ()
    return shape[:axis] + kept + shape[axis + 1 :]


def joined_shape(shape: Shape, axis: int, size: int, *, tiled: bool) -> Shape:
    """Return the shape of ``size`` pieces concatenated along ``axis`` (tiled) or stacked at it."""
    if tiled:
        return (*shape[:axis], shape[axis] * size, *shape[axis + 1 :])
    return (*shape[:axis], size, *shape[axis:])
