"""What an item is up to the names of its buffers: two items with one key can share a compiled kernel."""

from __future__ import annotations

from bisect import bisect

import msgspec

from conformance.cases.schedule.index_map import names
from conformance.cases.schedule.schedule import Collective, Item, Kernel, View, Wait, accesses
from conformance.reference.schedule.facts import Facts


def keys(facts: Facts, *, programs: bool = False) -> list[bytes]:
    """Return the key of each leaf that moves or computes something, in order.

    What no body shows is told apart by its labels, or else by its program; where ``programs`` are asked for, by both.
    """
    return [
        msgspec.json.encode((key_of(facts, leaf).hex(), _said(leaf, programs=programs), _whole(owner)))
        for leaf, owner in facts.owned
        if not isinstance(leaf, View | Wait)
    ]


def keys_in_order(facts: Facts, *, programs: bool = False) -> list[tuple[int, bytes]]:
    """Return the keys of the leaves that move, compute or wait, each with the number of the leaf.

    They tell too which buffers are one throughout the schedule, what is only started, and what is done before what.
    """
    listed = [number for number, leaf in enumerate(facts.leaves) if not isinstance(leaf, View)]
    views = [number for number, leaf in enumerate(facts.leaves) if isinstance(leaf, View)]
    slots = dict[str, int]()
    own = iter(keys(facts, programs=programs))
    found = []
    for number in listed:
        leaf = facts.leaves[number]
        used = [slots.setdefault(access.buffer, len(slots)) for access in accesses(leaf)]
        before = facts.before[number]
        for view in reversed(views):
            before = before & ((1 << view) - 1) | before >> view + 1 << view
        awaited = [bisect(listed, other) for other in facts.handles[leaf.handle]] if isinstance(leaf, Wait) else []
        what = "" if isinstance(leaf, Wait) else next(own).decode()
        found.append((number, msgspec.json.encode((what, used, hex(before), awaited, number in facts.started))))
    return found


def _whole(owner: Collective | None) -> tuple[object, ...]:
    """Return what is said of the collective that a leaf is a part of."""
    return () if owner is None else (owner.op, owner.participants, owner.algorithm, owner.algorithms)


def _said(leaf: Item, *, programs: bool) -> tuple[object, ...]:
    """Return what an item without a body says of what it does; nothing of one with bodies."""
    if isinstance(leaf, Kernel) and leaf.bodies:
        return ()
    labels = [(access.node, access.parts) for access in accesses(leaf) if access.write]
    named = bool(labels) and all(node is not None for node, _ in labels)
    program = leaf.program if isinstance(leaf, Kernel) and (programs or not named) else ""
    return labels, program


def untold(facts: Facts) -> bool:
    """Return whether nothing tells some kernel from another that touches the same: no body, no label, no program."""
    bare = [leaf for leaf in facts.leaves if isinstance(leaf, Kernel) and not leaf.bodies and not leaf.program]
    return any(access.write and access.node is None for leaf in bare for access in leaf.accesses)


def key_of(facts: Facts, leaf: Item, *, anywhere: bool = False) -> bytes:
    """Return the key of a leaf; ``anywhere`` it is the same on every device."""
    slots: dict[str, int] = {}
    used = [
        (
            slots.setdefault(access.buffer, len(slots)),
            access.write,
            facts.buffers[access.buffer].dtype,
            "" if anywhere else facts.buffers[access.buffer].device,
            access.map,
            access.ranges,
        )
        for access in accesses(leaf)
    ]
    inner = leaf.bodies if isinstance(leaf, Kernel) else ()
    what = (*_whole(leaf), leaf.attrs) if isinstance(leaf, Collective) else type(leaf).__name__
    variables = sorted({name for access in accesses(leaf) for name in names(access.map or ())})
    return msgspec.json.encode((what, used, inner, variables), order="deterministic")
