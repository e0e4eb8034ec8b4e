"""What every collective asks of its groups, its axes and its extents before any data moves."""

from __future__ import annotations

from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.rejection import Rejected


def partition(groups: Groups, world: int) -> Groups:
    """Return ``groups`` when none is empty and they name every rank exactly once; else reject (``collective.C5``)."""
    named = sorted(rank for group in groups for rank in group)
    if named != list(range(world)) or not all(groups):
        raise Rejected(
            "collective.C5",
            f"groups {list(groups)} must name each of the {world} ranks exactly once, none of them empty",
        )
    return groups


def equal_sizes(groups: Groups) -> int:
    """Return the one size of all groups; reject groups of several sizes (``collective.C6``)."""
    sizes = sorted({len(group) for group in groups})
    if len(sizes) != 1:
        raise Rejected("collective.C6", f"groups must have one size, for all ranks share one shape; got sizes {sizes}")
    return sizes[0]


def axis_in(axis: int, axes: int, clause: str) -> int:
    """Return an axis of a block of so many ``axes``, counted from the front; reject others by ``clause``."""
    if not -axes <= axis < axes:
        raise Rejected(clause, f"axis {axis} is outside [{-axes}, {axes - 1}]")
    return axis % axes


def position_in(position: int, size: int, clause: str, what: str) -> int:
    """Return ``position`` when a group of ``size`` members has it; otherwise reject by ``clause``."""
    if not 0 <= position < size:
        raise Rejected(clause, f"{what} {position} is no position in a group of {size}: 0 to {size - 1} are")
    return position


def pieces_of(extent: int, size: int, tiled: bool, indivisible: str, unequal: str) -> None:
    """Reject by ``indivisible`` (tiled) or ``unequal`` (untiled) an ``extent`` that has not ``size`` equal pieces."""
    if tiled and extent % size:
        raise Rejected(indivisible, f"extent {extent} does not divide into {size} equal pieces")
    if not tiled and extent != size:
        raise Rejected(unequal, f"extent {extent} must equal the group size {size}, one slice for each member")


def one_shape(blocks: list[Array]) -> None:
    """Require every rank to hold the same shape and dtype (``collective.C19``, ``C20``)."""
    dtypes, shapes = {str(block.dtype) for block in blocks}, {block.shape for block in blocks}
    if len(dtypes) > 1:
        raise Rejected("collective.C19", f"ranks hold different dtypes: {', '.join(sorted(dtypes))}")
    if len(shapes) > 1:
        raise Rejected("collective.C20", f"ranks hold different shapes: {', '.join(map(str, sorted(shapes)))}")
