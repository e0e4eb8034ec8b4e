"""Where the points of an access lie in its storage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.cases.dtypes import NUMPY
from conformance.cases.index_map import Indices, Values, elements
from conformance.cases.schedule import Access
from conformance.reference.schedule_facts import Facts


def positions(facts: Facts, access: Access, values: Values) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the first byte in its storage of each point of an access by map, and whether the point touches any."""
    assert access.map is not None
    found, valid = elements(access.map, values)
    return found * NUMPY[facts.buffers[access.buffer].dtype].itemsize + facts.root(access.buffer)[1], valid


def moving_axes(found: Indices, valid: NDArray[np.bool_]) -> frozenset[int]:
    """Return the axes along which points touch different elements, or only some of them any."""
    return frozenset(
        axis
        for axis in range(found.ndim)
        if found.shape[axis] > 1
        and (np.diff(np.where(valid, found, -1), axis=axis).any() or np.diff(valid, axis=axis).any())
    )
