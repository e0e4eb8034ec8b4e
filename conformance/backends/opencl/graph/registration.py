"""Which operands of collectives can lie in communication buffers: what the program computed, whole and for itself.

A buffer becomes one once, for the collectives of one group, in which it goes with the same buffer of each other member:
an operand that meets several others of one member is copied for each, from where it lies. What is given or asked for is
none, nor is storage that a program writes to: others have it before or after, where it lies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from conformance.backends.opencl.graph.node import Buffer, Collective, Movement, Node, Opened, Output, root
from conformance.backends.opencl.graph.view import contiguous

Group = tuple[int, ...]

Meeting = tuple[Group, tuple[Node, ...]]
"""A group, and the operand of each member; none where nothing is known of them."""


class Registered(msgspec.Struct, frozen=True, eq=False):
    """Operands of a collective in communication buffers of its ``group``: a node of each member, of one dtype and size.

    They are ``needed`` there where the algorithm takes them from nowhere else.
    """

    group: Group
    nodes: tuple[Node, ...]
    needed: bool


def meetings_of(collectives: Iterable[Collective]) -> dict[Node, set[Meeting]]:
    """Return where each node that is an operand is read, and of another group that gives it that group alone."""
    found: dict[Node, set[Meeting]] = {}
    for made in collectives:
        for group in made.groups:
            nodes = tuple(made.blocks[rank].node for rank in group)
            for node in nodes:
                found.setdefault(node, set()).add((group, nodes))
    for node, meetings in found.items():
        if isinstance(node, Output):
            own = {group for group, _ in meetings}
            meetings.update((each, ()) for each in node.collective.groups if node.device in each and each not in own)
    return found


def computed(blocks: Iterable[Movement]) -> bool:
    """Return whether the program computes all of these, so that it can have them where it wants."""
    return not any(isinstance(root(block.node), Buffer | Opened) for block in blocks)


def registrable(
    group: Group,
    asked: Collection[Movement],
    made: Collection[Movement],
    meetings: Mapping[Node, set[Meeting]],
    results: Collection[Node],
) -> bool:
    """Return whether operands can lie in communication buffers of their group as they are.

    ``asked`` are the operands as the program has them, ``made`` as they are lowered.
    """
    own = group, tuple(block.node for block in asked)
    alone = all(meetings[node] == {own} and node not in results for node in own[1])
    whole = all(block.view.size == block.node.size and block.view == contiguous(block.view.shape) for block in made)
    alike = len({(block.node.dtype, block.node.size) for block in made}) == 1
    return alone and whole and alike and computed(made) and all(block.node.size for block in made)
