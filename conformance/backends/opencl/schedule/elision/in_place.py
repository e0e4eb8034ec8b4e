"""Which sums are written where an operand lies that nobody reads any more, so that they need no other storage.

Every member's kernels read the operands of all members where they write the result, element for element, so each result
may have the storage of the operand on its own device.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from conformance.backends.opencl.graph.node import Join, Node, Reduce, needs
from conformance.backends.opencl.graph.registration import Group, Registered
from conformance.backends.opencl.graph.view import contiguous
from conformance.backends.opencl.schedule.elision.joins import Filled
from conformance.backends.opencl.schedule.item import Region
from conformance.backends.opencl.schedule.order import Turns
from conformance.backends.opencl.schedule.regions import region


def in_place(
    order: Sequence[Node],
    fill: Filled,
    turns: Turns,
    members: Mapping[tuple[int, ...], Group],
    registered: Sequence[Registered],
    kept: Collection[Node],
    alignment: int,
) -> dict[Node, Node]:
    """Return the operand in whose storage each such result lies, for nodes that are computed in ``order``.

    All members' results of a collective are in place or none. ``members`` says who meets in a turn. Those of ``kept``
    are needed when all is done, and so are no operand that may be overwritten.
    """
    position = {node: number for number, node in enumerate(order)}
    readers: dict[Node, list[Node]] = {}
    for node in order:
        for read in needs(node):
            readers.setdefault(read, []).append(node)
    candidates: dict[tuple[int, ...], list[Join]] = {}
    for node in order:
        if isinstance(node, Join) and node in fill.joins and node in turns:
            candidates.setdefault(turns[node], []).append(node)
    found: dict[Node, Node] = {}
    for turn, joins in candidates.items():
        group = members.get(turn)
        makers = [part.value.node for part in joins[0].parts if part.value is not None]
        first = makers[0]
        operands = {each.node.device: each.node for each in first.operands} if isinstance(first, Reduce) else {}
        units = [each for each in registered if each.group == group and set(operands.values()) == set(each.nodes)]
        if group is None or not units or any(each.needed for each in units):
            continue
        begins = min(position[maker] for maker in makers)
        pairs = [(join, operands[join.device]) for join in joins]
        outside = {node for join in joins for node in readers.get(join, ())} & set(turns)
        if (
            len(joins) == len(group)
            and all(members[turns[node]] == group for node in outside)
            and all(_fits(join, operand, kept) for join, operand in pairs)
            and all(_in_step(maker, join, operand, alignment) for join, operand in pairs for maker in makers)
            and all(
                node in makers or position[node] < begins for _, operand in pairs for node in readers.get(operand, ())
            )
        ):
            found |= dict(pairs)
    return found


def _fits(join: Join, operand: Node, kept: Collection[Node]) -> bool:
    return operand not in kept and (join.dtype, join.size) == (operand.dtype, operand.size)


def _in_step(maker: Node, join: Join, operand: Node, alignment: int) -> bool:
    """Return whether a maker of a result reads an operand only where it writes, and binds no more of it."""
    (part,) = (each for each in join.parts if each.value is not None and each.value.node is maker)
    first, stop = part.at.offset, part.at.offset + part.at.size
    return (
        isinstance(maker, Reduce)
        and not maker.local
        and maker.first == first
        and all(each.view == contiguous(each.view.shape) for each in maker.operands if each.node is operand)
        and region(operand, (first, stop), alignment) == Region(operand, first, stop - first)
    )
