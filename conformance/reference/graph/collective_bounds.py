"""How many roundings of what magnitude what a collective gives is off by: its bounds go the way of the blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import Array
from conformance.reference.graph.nodes import operation_of
from conformance.reference.graph.product_bounds import product_bound
from conformance.reference.reductions import ARITHMETIC

Reals = NDArray[np.float64]

OWN: Final = {"mean": 2.0, "premul_sum": 1.0}
"""Roundings of a term beside those of the sum: by the reciprocal of a count or a quotient, or by a factor."""


def received_bound(
    node: Node, of: Sequence[Array], k: Sequence[Reals], m: Sequence[Reals], made: Array
) -> tuple[Reals, Reals]:
    """Return ``k`` and ``m`` of floats that a node's device receives, of those of all members' blocks.

    Nothing is known, and ``k`` is infinite, of several operands, of terms whose sum or product may overflow in some
    order, and of those that are scaled by a number that may be flushed. Where terms may be subnormal, or scaled to such
    numbers, each of them, and each sum, may lose as much as the least normal number.
    """
    op, operation = str(node.attrs.get("op", "")), operation_of(str(node.arg))
    nothing = np.full(made.shape, np.inf), np.zeros(made.shape)
    if operation is None or len(of) != len(node.members):
        return nothing
    attrs = {name: value for name, value in node.attrs.items() if name != "factor"}

    def met(blocks: Sequence[Any] | Reals, word: str) -> Reals:
        given = attrs | ({"op": word} if op else {})
        made_of = operation(list(blocks), **given, groups=(tuple(range(len(blocks))),))
        return np.asarray(made_of[node.members.index(node.device)], np.float64)

    if op not in ARITHMETIC:
        return met(k, "max"), met(m, "max")
    local = node.attrs.get("local_axes")
    axes = [axis for axis in local if isinstance(axis, int)] if isinstance(local, tuple | list) else []
    count = len(of) * math.prod(of[0].shape[axis] for axis in axes)
    factor = 1.0 / max(count, 1) if op == "mean" else abs(float(str(node.attrs.get("factor", 1.0))))
    with np.errstate(all="ignore"):
        sizes = [np.abs(each.astype(np.complex128 if each.dtype.kind == "c" else np.float64)) for each in of]
    if op == "product":
        found: tuple[Reals, Reals] = product_bound(count, np.stack(k), np.stack(m), np.stack(sizes), made.dtype, met)
        return found
    total, form = met(m, "sum"), ml_dtypes.finfo(made.dtype)
    with np.errstate(all="ignore"):
        least = met([np.where(each > 0, each, np.inf) for each in sizes], "min")
        normal, u = float(form.smallest_normal), 2.0 ** -(form.nmant + 1)
        far = (0.0 < factor < normal) | ~(total * max(factor, 1.0) < float(form.max) / 4)
        each = 3.0 * normal * max(factor, 1.0) * (2.0 if made.dtype.kind == "c" else 1.0)
        lost = np.where((least * min(factor, 1.0) < normal) & (factor > 0), count * each, 0.0)
        scale = np.where(lost > 0, np.maximum(total * factor, normal), total * factor)
        roundings = met(k, "max") + max(count - 1, 0) + OWN.get(op, 0.0)
        roundings = np.where(lost > 0, (roundings * total * factor + lost / u) / scale, roundings)
    return np.where(far, np.inf, roundings), scale
