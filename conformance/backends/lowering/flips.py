"""A tensor turned round along axes that are split: each device gets the elements that its part then has."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.backends.lowering.graph_builder import Building, Spread, extents
from conformance.backends.lowering.moves import all_reduced, assembled
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import layout_of


def turned(work: Building, value: Spread, axes: Sequence[int]) -> Spread:
    """Return a value of which every part is real, turned round along some axes, where it was."""
    if value.at.partial:
        value = all_reduced(work, value, value.at.partial)
    have = layout_of(value.shape, value.at, work.case.mesh).boxes
    nodes: list[Node | None] = []
    for position, box in enumerate(have):
        assert box is not None  # every part is real
        mirrored = tuple(
            (extent - end, extent - begin) if axis in axes else (begin, end)
            for axis, ((begin, end), extent) in enumerate(zip(box, value.shape, strict=True))
        )
        part = assembled(work, position, mirrored, value, have)
        shape = extents(part)
        nodes.append(part if 0 in shape else work.add(position, "flip", shape, value.dtype, part, arg=tuple(axes)))
    return Spread(value.shape, value.dtype, value.at, tuple(nodes))
