"""Where communication buffers lie: blocks of a pool that is planned apart, and lasts from one run to the next.

A block has storage on every member of a group, all of one size, so that a buffer begins at one offset on all of them.
It serves again for buffers of the same group, dtype and size alone, as soon as nobody needs those before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.graph.registration import Group, Registered
from conformance.backends.opencl.schedule.arena import Life


class Block(msgspec.Struct, frozen=True, eq=False):
    """Storage of ``size`` bytes on every member of a ``group``, and its ``users`` in turn: a value of each member."""

    group: Group
    size: int
    users: tuple[tuple[Node, ...], ...]


def pooled(
    registered: Sequence[Registered],
    lives: Mapping[Node, Life],
    roots: Mapping[Node, Node],
    copied: Collection[Node],
    *,
    shared: bool,
) -> tuple[Block, ...]:
    """Return the blocks of what is ``registered`` and lives within a schedule; each has one user unless ``shared``.

    What lies in the storage of another, as ``roots`` says, is that. What is ``copied`` between devices shares with its
    like alone, as in arenas.
    """
    groups: dict[tuple[Node, ...], Group] = {}
    for each in registered:
        nodes = tuple(roots.get(node, node) for node in each.nodes)
        if all(node in lives for node in nodes):
            groups.setdefault(nodes, each.group)
    spans = {user: (min(lives[node].first for node in user), max(lives[node].last for node in user)) for user in groups}
    ends: list[tuple[object, int]] = []
    found: list[list[tuple[Node, ...]]] = []
    for user in sorted(groups, key=spans.__getitem__):
        first, last = spans[user]
        key = groups[user], user[0].dtype, lives[user[0]].size, any(node in copied for node in user)
        fitting = (number for number, (kind, end) in enumerate(ends) if shared and kind == key and end < first)
        number = next(fitting, len(found))
        if number == len(found):
            found.append([])
            ends.append((key, last))
        ends[number] = key, last
        found[number].append(user)
    return tuple(Block(groups[users[0]], lives[users[0][0]].size, tuple(users)) for users in found)
