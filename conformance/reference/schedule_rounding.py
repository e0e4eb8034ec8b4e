"""Which elements of a graph's values the order of rounded additions and multiplications may show in.

Where a sum or a product of floats may round in some order, no value that is made of it is the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.dtypes import Array, kind, logical
from conformance.cases.graph import Node
from conformance.reference.exactness import inexact
from conformance.reference.reductions import ARITHMETIC
from conformance.reference.schedule_memory import operation_of

Mask = NDArray[np.bool_]
"""The elements of a value in which the order may show."""

_FOLDS: Final = {"add": "sum", "mul": "product"}
_REDUCING: Final = ("all_reduce", "reduce", "reduce_scatter")
_COMPARING: Final = "arg_reduce"


def rounded(node: Node, of: Sequence[Array], masks: Sequence[Mask | None]) -> Mask | None:
    """Return in which elements of a computed node the order may show, or ``None`` for nowhere.

    ``of`` is what its sources are worth, and ``masks`` are theirs.
    """
    found = [np.zeros(value.shape, np.bool_) if mask is None else mask for value, mask in zip(of, masks, strict=True)]
    if node.op == "collective":
        made = _received(node, of, found)
    elif node.op in ("reduce", "all_reduce"):
        one = node.op == "reduce"
        axes = (
            tuple(axis for axis in node.arg if isinstance(axis, int)) if one and isinstance(node.arg, tuple) else (0,)
        )
        made = np.asarray(found[0].any(axes)) if one else np.logical_or.reduce(found)
        if node.fold in _FOLDS:
            made = made | _columns(of[0] if one else np.stack(of), axes, _FOLDS[node.fold])
    else:
        made = reduce(np.logical_or, found)
    return made if made.any() else None


def _columns(values: Array, axes: Sequence[int], op: str, factor: float = 1.0) -> Mask:
    """Return where the columns along ``axes``, which are gone from the result, may round in some order."""
    rest = tuple(extent for axis, extent in enumerate(values.shape) if axis not in axes)
    if kind(logical(values.dtype)) not in ("float", "complex") or not values.size:
        return np.zeros(rest, np.bool_)
    front = np.moveaxis(values, axes, range(len(axes)))
    columns = front.reshape(-1, *rest)
    return inexact(columns, op, factor)


def _received(node: Node, of: Sequence[Array], masks: Sequence[Mask]) -> Mask:
    """Return in which elements of what a device receives the order may show: masks go the way of the blocks."""
    whole = np.full(tuple(int(extent) for extent in node.shape), bool(any(mask.any() for mask in masks)))
    attrs, op, count = dict(node.attrs), str(node.attrs.get("op", "")), len(node.members)
    name = str(node.arg)
    if name == _COMPARING:
        name = "all_reduce"
    elif name in _REDUCING and op in ARITHMETIC:
        local = attrs.get("local_axes", ())
        axes = [axis + 1 for axis in (local if isinstance(local, tuple) else ()) if isinstance(axis, int)]
        axes = [axis if axis > 0 else axis + of[0].ndim for axis in axes]
        shown = _columns(np.stack(of), (0, *axes), op, float(str(attrs.get("factor", 1.0))))
        shown = np.expand_dims(shown, [axis - 1 for axis in axes])
        masks = [mask | shown for mask in masks]
    elif len(of) != count:
        return whole
    if not any(mask.any() for mask in masks):
        return whole
    if op:
        attrs = {each: value for each, value in attrs.items() if each != "factor"} | {"op": "or"}
    operation = operation_of(name)
    assert operation is not None  # the value was received by it
    found = operation(list(masks), **attrs, groups=(tuple(range(count)),))[node.members.index(node.device)]
    return whole if found is None else np.asarray(found)
