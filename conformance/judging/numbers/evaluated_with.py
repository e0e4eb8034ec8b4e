"""The results of a program by other operations than the reference's, and where two such results differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from conformance.cases.case import Case
from conformance.cases.tensor.dtypes import Array
from conformance.reference.effects import Effects
from conformance.reference.operations import OPERATIONS
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import run


def evaluated_with(
    case: Case,
    operations: Mapping[str, Callable[..., Any]],
    effects: Effects | None = None,
    inputs: Mapping[str, list[Array]] | None = None,
) -> dict[str, list[Array | None]]:
    """Return the results of a program with some operations in the place of the reference's.

    Of a program without meaning they are those of the ranks that can go on.
    """
    try:
        return run(case, case.blocks() if inputs is None else inputs, OPERATIONS | dict(operations), effects)
    except Rejected as why:
        return why.results


def differing(one: Array, other: Array) -> Array:
    """Return which elements of two blocks have other bits, in the shape of the second; all where the shapes differ."""
    if one.shape != other.shape:
        return np.ones(other.shape, np.bool_)
    width = other.dtype.itemsize
    sides = [np.frombuffer(np.ascontiguousarray(each).tobytes(), np.uint8).reshape(-1, width) for each in (one, other)]
    return np.asarray((sides[0] != sides[1]).any(axis=1).reshape(other.shape))
