"""Patterns of tensors that are large enough for what an engine does from thousands of elements on.

What is joined of pieces is stored by a collective or piece by piece, a fold is made in two stages, runs are streamed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement, Split, even_cuts
from conformance.specs.sharded.domain.patterns.listing import Sharded, counted
from conformance.specs.sharded.domain.places import odd_cuts

Pattern = Callable[[Sharded], list[Node]]

STORED: Final = 2**12
"""Elements of a part from which the native engine stores what it joins of pieces (``backends/lowering``)."""

STAGED: Final = 2**16
"""Elements from which it folds in two stages (``backends/opencl/settings.py``)."""


def _long(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return int8 values whose order shows: no two ranges of a hundred places have the same."""
    number: np.ndarray[Any, Any] = np.arange(math.prod(shape))
    return np.asarray((number * 7 + number // 127) % 127).reshape(shape)


def _cut(e: Sharded, axis: int, cuts: tuple[int, ...]) -> Placement:
    return Placement(splits=(Split(axis=axis, along=(e.mesh[0].name,), cuts=cuts),))


def _long_rows(e: Sharded) -> list[Node]:
    """Gather rows in uneven parts by columns and whole: as many elements as are stored, more and fewer."""
    parts = e.mesh[0].size
    uneven = odd_cuts(4, parts)
    found = []
    for more, cuts in enumerate((uneven[0], uneven[-2])):
        begun, columns = _cut(e, 0, cuts), (STORED // 4 + more) * parts
        at = e.held(_long((4, columns)), "int8", begun)
        moved = e.to(at, _cut(e, 1, even_cuts(columns, parts)))
        found += [moved, e.to(moved, begun)]
    for rows in (4, 5):
        at = e.held(_long((rows, STORED // rows)), "int8", _cut(e, 0, odd_cuts(rows, parts)[0]))
        found.append(e.to(at))
    return found


def _long_folds(e: Sharded) -> list[Node]:
    """Fold so many elements of a row, and of all rows, that it takes two stages; rows are in uneven parts."""
    parts, width = e.mesh[0].size, math.isqrt(STAGED)
    rows = parts + 1
    at = e.held(counted((rows, width), "int32") % 1009 - 400, "int32", _cut(e, 0, odd_cuts(rows, parts)[0]))
    whole = e.moved("expand", (rows, width, width), e.moved("reshape", (rows, width, 1), at))
    turned = e.alu("mul", whole, e.moved("permute", (rows, width, width), whole, (0, 2, 1)))
    return [e.fold(word, turned, *axes) for word in ("add", "max") for axes in ((1, 2), (0, 1, 2))]


def _long_blocks(e: Sharded) -> list[Node]:
    """Move blocks of a grid to blocks along the other mesh axes, to other bounds, and to all devices."""
    one, two = e.mesh[:2]
    side = (math.isqrt(STORED) + 1) * max(one.size, two.size)
    shape = (side, side)
    blocks, crossed = (
        Placement(
            splits=tuple(
                Split(axis=axis, along=(by.name,), cuts=even_cuts(side, by.size)) for axis, by in enumerate(order)
            )
        )
        for order in ((one, two), (two, one))
    )
    at = e.held(_long(shape), "int8", blocks)
    other = e.to(at, crossed)
    return [other, e.to(other, _cut(e, 0, odd_cuts(side, one.size)[0])), e.to(at)]


LARGE: Final[Mapping[str, Pattern]] = {"long rows": _long_rows, "long folds": _long_folds}
"""Patterns for any mesh."""

GRID: Final[Mapping[str, Pattern]] = {"long blocks": _long_blocks}
"""Patterns for a mesh of two axes."""
