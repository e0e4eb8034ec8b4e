"""Products of matrices that are large enough to be computed in tiles, of every form and with what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.specs.graphs.domain.edges.pattern import Pattern
from conformance.specs.graphs.domain.listing import Edge


def _product(e: Edge, left: Node, right: Node) -> Node:
    """Multiply ``[rows, deep]`` by ``[columns, deep]`` and fold what both have."""
    (rows, deep), columns = left.shape, right.shape[0]
    shape = (rows, columns, deep)
    one = e.asked.moved("expand", shape, e.asked.moved("reshape", (rows, 1, deep), left))
    two = e.asked.moved("expand", shape, e.asked.moved("reshape", (1, columns, deep), right))
    return e.fold("add", e.alu("mul", one, two), 2)


def _matrix(e: Edge, rows: int, columns: int) -> Node:
    """Return a matrix of small whole numbers, of which no two rows or columns are alike."""
    return e.buf(np.arange(rows * columns).reshape(rows, columns) * 7 % 11 - 5, "float32")


def _in_tiles(e: Edge) -> list[Node]:
    """Multiply matrices of extents that tiles divide, and do not, either one turned, and compute with the product.

    A vector has 16 columns, or two of them 32; rows are taken by fours or more; 32 terms are the least of a tile.
    """
    found = []
    for rows, columns, deep in ((19, 32, 33), (16, 48, 40), (37, 17, 35)):
        left, right = _matrix(e, rows, deep), _matrix(e, deep, columns)
        across, upright = _matrix(e, columns, deep), _matrix(e, deep, rows)
        found += [
            _product(e, left, e.turn(right, 1, 0)),
            _product(e, left, across),
            e.alu("add", _product(e, e.turn(upright, 1, 0), e.turn(right, 1, 0)), _matrix(e, rows, columns)),
            _product(e, e.alu("neg", left), e.turn(right, 1, 0)),
        ]
    return found


PRODUCTS: Final[Mapping[str, Pattern]] = {"products in tiles": _in_tiles}
"""Products that one work-item computes many elements of."""
