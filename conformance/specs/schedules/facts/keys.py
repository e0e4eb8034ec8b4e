"""What an item is up to the names of its buffers: two items with one key can share a compiled kernel."""

from __future__ import annotations

import msgspec

from conformance.cases.schedule.index_map import names
from conformance.cases.schedule.schedule import Collective, Item, Kernel, View, Wait, accesses
from conformance.reference.schedule.facts import Facts


def keys(facts: Facts) -> list[bytes]:
    """Return the key of each leaf that moves or computes something, in order."""
    return [key_of(facts, leaf) for leaf in facts.leaves if not isinstance(leaf, View | Wait)]


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
    what = (leaf.op, leaf.attrs) if isinstance(leaf, Collective) else type(leaf).__name__
    variables = sorted({name for access in accesses(leaf) for name in names(access.map or ())})
    return msgspec.json.encode((what, used, inner, variables), order="deterministic")
