"""Which reductions are written straight into the storages that would only join them.

This is what makes sharded-direct one kernel a device: each shard goes to every output at once. Several devices
then write one storage, which OpenCL leaves undefined, so each writes a sub-buffer and must begin at its alignment.
"""

from __future__ import annotations

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Join, Movement, Node, Part, Reduce, needs
from conformance.backends.opencl.render.kernels import WIDE
from conformance.backends.opencl.schedule.order import Turns

Place = tuple[Node, int, int]


class Filled(msgspec.Struct, frozen=True, eq=False):
    """``joins`` need no kernel; ``within`` maps a reduction to the places ``(join, first, size)`` it fills."""

    joins: frozenset[Join]
    within: dict[Node, tuple[Place, ...]]


def filled(order: list[Node], results: tuple[Movement, ...], alignment: int, turns: Turns) -> Filled:
    """Return the joins that reductions can fill in place, all their parts or none.

    Both belong to one group of one collective: a reduction of another reads storages of devices that are not in it.
    """
    joins = {
        node
        for node in order
        if isinstance(node, Join) and all(_aligned(part, node, alignment, turns) for part in node.parts)
    }
    while joins:
        places = _places(joins)
        barred = _read_elsewhere(order, results, joins) | {n for n, found in places.items() if len(found) > WIDE}
        refused = {join for join in joins if any(part.value and part.value.node in barred for part in join.parts)}
        if not refused:
            return Filled(frozenset(joins), {node: tuple(found) for node, found in places.items()})
        joins -= refused
    return Filled(frozenset(), {})


def _aligned(part: Part, join: Join, alignment: int, turns: Turns) -> bool:
    value, at = part.value, part.at
    return (
        value is not None
        and isinstance(value.node, Reduce)
        and turns.get(value.node) == turns.get(join)
        and value.node.size == at.size
        and value.view.strides == at.strides == (1,)
        and value.view.offset == 0
        and at.offset * FORMATS[join.dtype].itemsize % alignment == 0
    )


def _places(joins: set[Join]) -> dict[Node, list[Place]]:
    found: dict[Node, list[Place]] = {}
    for join in sorted(joins, key=lambda join: join.device):
        for part in join.parts:
            if part.value is not None:
                found.setdefault(part.value.node, []).append((join, part.at.offset, part.at.size))
    return found


def _read_elsewhere(order: list[Node], results: tuple[Movement, ...], joins: set[Join]) -> set[Node]:
    """Return the nodes that something other than ``joins`` reads."""
    found = {block.node for block in results}
    for node in order:
        if node not in joins:
            found.update(needs(node))
    return found
