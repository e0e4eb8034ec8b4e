"""Which elements an index of tinygrad's graph touches, computed for every point of a kernel."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from tinygrad.dtype import AddrSpace, Invalid
from tinygrad.uop import GroupOp, Ops
from tinygrad.uop.ops import AxisType, UOp

from conformance.backends.base import Unsupported
from conformance.cases.graph.extent import Dim, Values, sizes
from conformance.cases.schedule.index_map import Indices

MOST_POINTS: Final = 1 << 20
"""Points of one kernel that are computed one by one; more have no body."""

BINARY: Final[dict[Any, Any]] = {
    Ops.ADD: np.add,
    Ops.SUB: np.subtract,
    Ops.MUL: np.multiply,
    Ops.MAX: np.maximum,
    Ops.FLOORDIV: np.floor_divide,
    Ops.FLOORMOD: np.mod,
    Ops.CMPLT: np.less,
    Ops.CMPNE: np.not_equal,
    Ops.CMPEQ: np.equal,
    Ops.AND: np.bitwise_and,
    Ops.OR: np.bitwise_or,
    Ops.XOR: np.bitwise_xor,
    Ops.SHL: np.left_shift,
    Ops.SHR: np.right_shift,
    Ops.CDIV: lambda a, b: np.trunc(a / b).astype(np.int64),
    Ops.CMOD: np.fmod,
}

LEAVES: Final = (Ops.RANGE, Ops.CONST, Ops.PARAM, Ops.STACK)
UNMOVED: Final = (*GroupOp.Movement, Ops.CONTIGUOUS, Ops.DETACH)
"""What names elements of its source and computes nothing."""


def is_variable(node: UOp) -> bool:
    """Return whether a node of a kernel stands for a variable of the program."""
    return bool(node.op is Ops.PARAM and node.arg.addrspace is AddrSpace.ALU and not is_device(node))


def variables_in(kernel: UOp) -> dict[str, tuple[int, int]]:
    """Return the variables that a kernel is told, in tinygrad's order, each with the least and the most it may be."""
    return {node.expr: (int(node.vmin), int(node.vmax)) for node in kernel.variables() if is_variable(node)}


def size_of(axis: UOp) -> Dim:
    """Return the extent of a range; raise ``Unsupported`` for one that is neither a number nor a variable."""
    extent = axis.src[0]
    if is_variable(extent):
        return str(extent.expr)
    if extent.op is not Ops.CONST:
        raise Unsupported(f"an extent that is {extent.op}")
    return int(extent.val)


def known_size(extent: Any, values: Values) -> int:
    """Return an extent of tinygrad's as a number."""
    return int(extent.unbind_all()[0].sym_infer(dict(values)) if isinstance(extent, UOp) else extent)


def is_device(node: UOp) -> bool:
    """Return whether a node stands for the number of the device that runs the kernel."""
    if node.op is Ops.RANGE:
        return bool(node.arg[-1] is AxisType.DEVICE)
    return bool(node.op is Ops.PARAM and node.arg.name == "_device_num")


class Points:
    """The points of a kernel on one device. ``parts`` gives for each range its axes, with what a step along each adds.

    A range that is divided is split, for then each part is an axis that strides and masks can speak of. An extent of
    ``shape`` may be a variable, of which ``most`` gives the greatest value.
    """

    def __init__(self, ranges: list[UOp], nodes: list[UOp], device: int, most: Values) -> None:
        """Raise ``Unsupported`` when there are too many points, or their number is not fixed."""
        self.parts: dict[UOp, list[tuple[int, int]]] = {}
        self._device = device
        shape: list[Dim] = []
        for each in ranges:
            size = size_of(each)
            if isinstance(size, str):
                self.parts[each] = [(len(shape), 1)]
                shape.append(size)
                continue
            weights = [1, *_divisors(each, size, nodes), size]
            self.parts[each] = []
            for weight, beyond in reversed(list(itertools.pairwise(weights))):
                self.parts[each].append((len(shape), weight))
                shape.append(beyond // weight)
        self.shape = tuple(shape)
        if np.prod(sizes(self.shape, most), dtype=np.float64) > MOST_POINTS:
            raise Unsupported(f"{self.shape} are more than {MOST_POINTS} points")

    def elements(self, index: UOp, values: Values) -> tuple[Indices, Any]:
        """Return the element of each point and whether it touches any, where the variables have these values."""
        _, table = elements_of(index.src[0], values)
        known: dict[UOp, tuple[Any, Any]] = {}
        at = [self._value(position, known, values) for position in index.src[1:]]
        shape = sizes(self.shape, values)
        valid = np.ones(shape, np.bool_)
        for _, own in at:
            valid = valid & own
        if table is None:
            found = np.broadcast_to(np.asarray(at[0][0], np.int64), shape)
        else:
            inside = [np.where(valid, position, 0) for position, _ in at]
            found = np.broadcast_to(table[tuple(inside)], shape)
            valid = valid & (found >= 0)
        return found, valid

    def _along(self, axis: int, values: Values) -> Indices:
        extent = sizes(self.shape, values)[axis]
        return np.arange(extent).reshape([-1 if a == axis else 1 for a in range(len(self.shape))])

    def _value(self, node: UOp, known: dict[UOp, tuple[Any, Any]], values: Values) -> tuple[Any, Any]:
        """Return what an integer or a truth is worth at every point, and where it is worth anything."""
        for each in node.toposort():
            if each not in known:
                known[each] = self._one(each, known, values)
        return known[node]

    def _one(self, node: UOp, known: Mapping[UOp, tuple[Any, Any]], bound: Values) -> tuple[Any, Any]:
        if node.op in LEAVES or is_device(node):
            return self._leaf(node, bound)
        of = [known[source] for source in node.src]
        valid: Any = True
        for _, own in of if node.op is not Ops.WHERE else of[:1]:
            valid = valid & own
        values = [value for value, _ in of]
        if node.op in BINARY:
            return BINARY[node.op](*values), valid
        if node.op is Ops.CAST:
            return values[0], valid
        if node.op is Ops.WHERE:
            return np.where(values[0], values[1], values[2]), valid & np.where(values[0], of[1][1], of[2][1])
        raise Unsupported(f"an index that is made with {node.op}")

    def _leaf(self, node: UOp, bound: Values) -> tuple[Any, Any]:
        if is_device(node):
            return self._device, True
        if node.op is Ops.RANGE:
            return sum(self._along(axis, bound) * weight for axis, weight in self.parts[node]), True
        if is_variable(node):
            return bound[node.expr], True
        if node.op is Ops.STACK and not node.src:
            return 0, True  # the shape of a variable, which no index is made with
        if node.op is not Ops.CONST:
            raise Unsupported(f"an index that is made with {node.op}")
        return (0, False) if node.val is Invalid else (node.val, True)


def _divisors(axis: UOp, size: int, nodes: list[UOp]) -> list[int]:
    """Return the numbers that a range is divided by, those that divide each other and its extent, least first."""
    asked = {
        int(node.src[1].val)
        for node in nodes
        if node.op in (Ops.FLOORDIV, Ops.FLOORMOD) and node.src[0] is axis and node.src[1].op is Ops.CONST
    }
    found: list[int] = []
    for divisor in sorted(asked):
        if 1 < divisor < size and size % divisor == 0 and divisor % (found or [1])[-1] == 0:
            found.append(divisor)
    return found


def base_of(view: UOp) -> UOp:
    """Return what a chain of movement is a view of."""
    while view.op in UNMOVED:
        view = view.src[0]
    return view


def elements_of(view: UOp, values: Values) -> tuple[UOp, Indices | None]:
    """Return what a chain of movement is a view of, and which element of it each of its own is, -1 where none.

    The table is ``None`` for no movement at all.
    """
    base, segments = segments_of(view, values)
    if not segments:
        return base, None
    table = segments[-1]
    for outer in reversed(segments[:-1]):
        table = np.where(outer >= 0, np.append(table.reshape(-1), -1)[outer], -1)
    return base, table


def segments_of(view: UOp, values: Values) -> tuple[UOp, list[Indices]]:
    """Return what a chain of movement is a view of, and its segments between one reshape and the next, outermost first.

    A segment gives for each of its points the row-major number of a point of the next, at last of an element; -1 is
    nothing.
    """
    chain: list[UOp] = []
    while view.op in UNMOVED:
        chain.extend([view] if view.op in GroupOp.Movement else [])
        view = view.src[0]
    segments: list[Indices] = []
    fresh = True
    for each in reversed(chain):
        shape = tuple(known_size(extent, values) for extent in each.src[0].shape) if fresh else ()
        if each.op is Ops.RESHAPE:
            target = tuple(known_size(extent, values) for extent in each.marg)
            segments.append(np.arange(int(np.prod(target, dtype=np.int64))).reshape(target))
        else:
            if fresh:
                segments.append(np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape))
            segments[-1] = _moved(segments[-1], each, values)
        fresh = False
    return view, segments[::-1]


def _moved(table: Indices, node: UOp, values: Values) -> Indices:
    arg = node.marg
    if node.op is Ops.PERMUTE:
        return table.transpose(arg)
    if node.op is Ops.EXPAND:
        return np.broadcast_to(table, tuple(known_size(extent, values) for extent in node.shape))
    if node.op is Ops.PAD:
        # The argument gives where the old begins in the new, and the extent of the new.
        arg = [(known_size(low, values), known_size(size, values)) for low, size in arg]
        around = [(low, size - low - old) for (low, size), old in zip(arg, table.shape, strict=True)]
        return np.pad(table, around, constant_values=-1)
    if node.op is Ops.SHRINK:
        arg = [(known_size(start, values), known_size(size, values)) for start, size in arg]
        return table[tuple(slice(start, start + size) for start, size in arg)]
    return np.flip(table, tuple(axis for axis, flipped in enumerate(arg) if flipped))
