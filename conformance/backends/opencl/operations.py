"""The operations: what each asks of its arguments, and the dtype and shape of what every rank receives.

Everything is checked here, before a graph node exists, so before any data moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.backends.opencl import rejections as no
from conformance.backends.opencl.graph import Collective, Movement
from conformance.cases.program import Groups

Shape = tuple[int, ...]
Attrs = dict[str, Any]

REDUCTIONS: Final = ("sum", "product", "max", "min")


def collective(operation: str, blocks: tuple[Movement, ...], attrs: Mapping[str, Any], groups: Groups) -> Collective:
    """Return the checked collective, its axes counted from the front; raise a ``RejectionError`` for an illegal one."""
    if operation not in OPERATIONS:
        raise no.UnknownOperationError(f"unknown operation {operation!r}; known are {', '.join(OPERATIONS)}")
    check, wanted = OPERATIONS[operation]
    if set(attrs) != set(wanted):
        raise no.WrongAttributesError(f"{operation} takes the attributes {sorted(wanted)}, got {sorted(attrs)}")
    for name, kind in wanted.items():
        if type(attrs[name]) is not kind:
            raise no.WrongAttributesError(f"{operation}: {name} must be {kind.__name__}, got {attrs[name]!r}")
    named = sorted(rank for group in groups for rank in group)
    if named != list(range(len(blocks))) or not all(groups):
        raise no.GroupsNotPartitionError(
            f"groups {list(groups)} must name each of the {len(blocks)} ranks exactly once, none of them empty"
        )
    _alike(blocks)
    dtype, shape = blocks[0].node.dtype, blocks[0].view.shape
    dtype, shape, checked = check(dtype, shape, groups, dict(attrs))
    return Collective(operation, checked, groups, blocks, dtype, shape)


def _alike(blocks: tuple[Movement, ...]) -> None:
    for rank, block in enumerate(blocks):
        for what, mine, first in (
            ("dtype", block.node.dtype, blocks[0].node.dtype),
            ("shape", block.view.shape, blocks[0].view.shape),
        ):
            if mine != first:
                raise no.BlocksDifferError(f"all ranks need one {what}: rank 0 has {first}, rank {rank} has {mine}")


def _reduced(dtype: str, op: str) -> str:
    if op not in REDUCTIONS:
        raise no.UnknownReductionError(f"reduction {op!r} is unknown; known are {', '.join(REDUCTIONS)}")
    return "int32" if dtype == "bool" and op in ("sum", "product") else dtype


def _size(groups: Groups) -> int:
    sizes = sorted({len(group) for group in groups})
    if len(sizes) != 1:
        raise no.UnequalGroupsError(f"groups must have one size, for all ranks share one shape; got sizes {sizes}")
    return sizes[0]


def _axis(axis: int, rank: int, what: str) -> int:
    if not -rank <= axis < rank:
        raise no.AxisOutOfRangeError(f"{what} {axis} is outside [{-rank}, {rank - 1}]")
    return axis % rank


def _piece(shape: Shape, axis: int, size: int, tiled: bool) -> Shape:
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


def _joined(shape: Shape, axis: int, size: int, tiled: bool) -> Shape:
    """Return the shape of ``size`` pieces concatenated along ``axis`` (tiled) or stacked at it."""
    if tiled:
        return (*shape[:axis], shape[axis] * size, *shape[axis + 1 :])
    return (*shape[:axis], size, *shape[axis:])


def _all_reduce(dtype: str, shape: Shape, _groups: Groups, attrs: Attrs) -> tuple[str, Shape, Attrs]:
    return _reduced(dtype, attrs["op"]), shape, attrs


def _all_gather(dtype: str, shape: Shape, groups: Groups, attrs: Attrs) -> tuple[str, Shape, Attrs]:
    size, tiled = _size(groups), attrs["tiled"]
    axis = _axis(attrs["axis"], len(shape) + (not tiled), "axis")
    return dtype, _joined(shape, axis, size, tiled), {**attrs, "axis": axis}


def _reduce_scatter(dtype: str, shape: Shape, groups: Groups, attrs: Attrs) -> tuple[str, Shape, Attrs]:
    size = _size(groups)
    axis = _axis(attrs["axis"], len(shape), "axis")
    return _reduced(dtype, attrs["op"]), _piece(shape, axis, size, attrs["tiled"]), {**attrs, "axis": axis}


def _all_to_all(dtype: str, shape: Shape, groups: Groups, attrs: Attrs) -> tuple[str, Shape, Attrs]:
    size, tiled = _size(groups), attrs["tiled"]
    split = _axis(attrs["split_axis"], len(shape), "split_axis")
    concat = _axis(attrs["concat_axis"], len(shape), "concat_axis")
    piece = _piece(shape, split, size, tiled)
    return dtype, _joined(piece, concat, size, tiled), {**attrs, "split_axis": split, "concat_axis": concat}


def _permute(dtype: str, shape: Shape, groups: Groups, attrs: Attrs) -> tuple[str, Shape, Attrs]:
    size, pairs = _size(groups), attrs["pairs"]
    for pair in pairs:
        if type(pair) is not tuple or len(pair) != 2 or any(type(end) is not int for end in pair):
            raise no.WrongAttributesError(f"permute: a pair is (source, destination), got {pair!r}")
        for end in pair:
            if not 0 <= end < size:
                raise no.PositionOutOfRangeError(
                    f"pair {pair} leaves the group of {size}: positions are 0 to {size - 1}"
                )
    for side, what in ((0, "source"), (1, "destination")):
        ends = [pair[side] for pair in pairs]
        if len(set(ends)) != len(ends):
            raise no.PositionRepeatedError(f"pairs {list(pairs)} name a {what} twice; each may appear once")
    return dtype, shape, attrs


def _broadcast(dtype: str, shape: Shape, groups: Groups, attrs: Attrs) -> tuple[str, Shape, Attrs]:
    for group in groups:
        if not 0 <= attrs["root"] < len(group):
            raise no.PositionOutOfRangeError(
                f"root {attrs['root']} is no position in a group of {len(group)}: 0 to {len(group) - 1} are"
            )
    return dtype, shape, attrs


Check = Callable[[str, Shape, Groups, Attrs], tuple[str, Shape, Attrs]]

OPERATIONS: Final[dict[str, tuple[Check, dict[str, type]]]] = {
    "all_gather": (_all_gather, {"axis": int, "tiled": bool}),
    "all_reduce": (_all_reduce, {"op": str}),
    "all_to_all": (_all_to_all, {"split_axis": int, "concat_axis": int, "tiled": bool}),
    "broadcast": (_broadcast, {"root": int}),
    "permute": (_permute, {"pairs": tuple}),
    "reduce_scatter": (_reduce_scatter, {"op": str, "axis": int, "tiled": bool}),
}
