"""Which operands of collectives can lie in communication buffers: what the program computed, whole and for itself.

A buffer becomes one once, for the collectives of one group. What is given or asked for is none, nor is storage that a
program writes to: others have it before or after, where it lies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from conformance.backends.opencl.graph.node import Buffer, Collective, Movement, Node, Opened, Output, root
from conformance.backends.opencl.graph.view import contiguous

Group = tuple[int, ...]


class Registered(msgspec.Struct, frozen=True, eq=False):
    """Operands of a collective in communication buffers of its ``group``: a node of each member, of one dtype and size.

    They are ``needed`` there where the algorithm takes them from nowhere else.
    """

    group: Group
    nodes: tuple[Node, ...]
    needed: bool


def groups_of(collectives: Iterable[Collective]) -> dict[Node, set[Group]]:
    """Return the groups that read each node that is an operand, or that give it."""
    found: dict[Node, set[Group]] = {}
    for made in collectives:
        for group in made.groups:
            for rank in group:
                found.setdefault(made.blocks[rank].node, set()).add(group)
    for node, groups in found.items():
        if isinstance(node, Output):
            groups.update(group for group in node.collective.groups if node.device in group)
    return found


def computed(blocks: Iterable[Movement]) -> bool:
    """Return whether the program computes all of these, so that it can have them where it wants."""
    return not any(isinstance(root(block.node), Buffer | Opened) for block in blocks)


def registrable(
    group: Group,
    asked: Collection[Movement],
    made: Collection[Movement],
    groups: Mapping[Node, set[Group]],
    results: Collection[Node],
) -> bool:
    """Return whether operands can lie in communication buffers of their group as they are.

    ``asked`` are the operands as the program has them, ``made`` as they are lowered.
    """
    alone = all(groups[block.node] == {group} and block.node not in results for block in asked)
    whole = all(block.view.size == block.node.size and block.view == contiguous(block.view.shape) for block in made)
    alike = len({(block.node.dtype, block.node.size) for block in made}) == 1
    return alone and whole and alike and computed(made) and all(block.node.size for block in made)
