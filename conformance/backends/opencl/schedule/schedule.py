"""Nodes become ordered items: copies, kernels and barriers, each with the byte ranges it reads and writes.

Only nodes that a result needs are scheduled, and blocks without elements never are. Items are ordered by the barriers
before them, then by collective and group, then by depth, so that devices work side by side; edges come from hazards
over byte ranges, not from the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.graph.node import Buffer, Computed, Join, Launch, Movement, Node, Write
from conformance.backends.opencl.graph.registration import Group, Registered
from conformance.backends.opencl.schedule.elision.copies import elided_copies, storage_makers
from conformance.backends.opencl.schedule.elision.in_place import in_place
from conformance.backends.opencl.schedule.elision.joins import filled
from conformance.backends.opencl.schedule.elision.multicast import multicasts
from conformance.backends.opencl.schedule.hazards import Hazards
from conformance.backends.opencl.schedule.item import Barrier, Item
from conformance.backends.opencl.schedule.memory_plan import MemoryPlan, memory_plan
from conformance.backends.opencl.schedule.node_items import itemise
from conformance.backends.opencl.schedule.nontemporal import nontemporal_stores
from conformance.backends.opencl.schedule.order import Turns, reachable, staged
from conformance.backends.opencl.schedule.overlap import drawn, moved_bytes, overlapped
from conformance.backends.opencl.settings import Settings
from conformance.cases.program.program import Groups


class Schedule(msgspec.Struct, frozen=True, eq=False):
    """Items in an order that respects every edge, and where the nodes they use lie.

    ``memory`` says where every node lies, and ``inputs`` are the nodes that exist before; the bytes of all others are
    undefined until an item writes them. ``roots`` has the node that made the storage for each that lies in that of
    another, and ``inside`` the write that a node is which is computed there.
    """

    items: tuple[Item, ...]
    nodes: tuple[Node, ...]
    memory: MemoryPlan
    inputs: tuple[Buffer, ...]
    roots: dict[Node, Node]
    inside: dict[Node, Write]

    @property
    def places(self) -> dict[Node, int]:
        """The number of the storage of every node."""
        return self.memory.places

    @property
    def sizes(self) -> tuple[int, ...]:
        """The bytes of every storage."""
        return self.memory.sizes


def schedule(
    results: tuple[Movement, ...],
    alignment: int,
    stages: Mapping[Node, int] = MappingProxyType({}),
    barriers: tuple[Groups, ...] = (),
    settings: Settings | None = None,
    turns: Turns = MappingProxyType({}),
    members: Mapping[tuple[int, ...], Group] = MappingProxyType({}),
    registered: Sequence[Registered] = (),
) -> Schedule:
    """Return the schedule of the results; sub-buffers begin at multiples of ``alignment`` bytes.

    ``stages`` says after how many of the ``barriers`` a node comes, none where it says nothing, and ``turns`` which
    collective it belongs to: the items of one come in a row, so that every device meets collectives in one order.
    ``members`` are those who meet in a turn, and ``registered`` the operands that may lie in communication buffers.
    """
    chosen = Settings() if settings is None else settings
    order = staged(reachable(results), stages, turns)
    if chosen.overlap:
        order = overlapped(order, turns, moved_bytes if chosen.estimates is None else drawn(chosen.estimates))
    fill = filled([node for node, _ in order], results, alignment, turns)
    own = [(node, stage) for node, stage in order if isinstance(node, Join) and node not in fill.joins]
    shared = multicasts(((node, (stage, turns.get(node))) for node, stage in own), alignment, chosen)
    nodes = [node for node, _ in order]
    inside = elided_copies(nodes, results, fill, shared, alignment)
    kept = {block.node for block in results} | inside.keys()
    taken = in_place(nodes, fill, turns, members, registered, kept, alignment) if chosen.in_place else {}
    roots = storage_makers(nodes, inside, taken)
    stores: dict[Launch, list[Computed]] = {}
    for made in sorted((each for each in nodes if isinstance(each, Computed)), key=lambda each: each.number):
        stores.setdefault(made.launch, []).append(made)
    bare: list[Item] = []
    passed = 0
    for node, stage in order:
        for groups in barriers[passed:stage]:
            bare.extend(_barriers(groups, bare))
        passed = stage
        if not isinstance(node, Write) or node.value.node not in inside:
            bare.extend(itemise(node, fill, shared, alignment, chosen, stores))
    nodes = [node for node in nodes if node not in fill.within]
    inputs = tuple(node for node in nodes if isinstance(node, Buffer))
    outputs = dict.fromkeys(roots.get(block.node, block.node) for block in results if block.node.size)
    most = chosen.arena if chosen.reuse else None
    plan = memory_plan(
        bare, dict.fromkeys((*inputs, *outputs)), roots, alignment=alignment, most=most, registered=registered
    )
    if chosen.cached is not None:
        bare = nontemporal_stores(bare, plan.sizes, chosen.cached)
    hazards = Hazards(plan.places, roots, plan.offsets)
    items = tuple(
        msgspec.structs.replace(item, after=tuple(sorted({*item.after, *hazards.record(number, item.accesses)})))
        for number, item in enumerate(bare)
    )
    return Schedule(items, tuple(nodes), plan, inputs, roots, inside)


def _barriers(groups: Groups, items: list[Item]) -> list[Item]:
    """Return for each member the item that waits for all that the members of its group have been given so far."""
    found: list[Item] = []
    for group in groups:
        before = tuple(number for number, item in enumerate(items) if item.device in group)
        found.extend(Barrier(device, (), before) for device in group)
    return found
