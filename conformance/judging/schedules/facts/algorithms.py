"""What copies and parts of collectives move, and what their algorithms need."""

from __future__ import annotations

import math
from collections.abc import Iterator

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.algorithms import BLOCKS
from conformance.cases.schedule.schedule import Collective, Copy, Kernel
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.clause import SILENT
from conformance.reference.byte_ranges import size
from conformance.reference.schedule.facts import Facts, Touch


def copies(facts: Facts) -> Iterator[tuple[int, Copy, Touch, Touch]]:
    """Yield the copies with what they read and write; those without exactly one of each are ``copies.C1``'s.

    None of those is meant that move a value between the memories of one device: it stays on its device.
    """
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Copy):
            read = [touch for touch in facts.touches[number] if not touch.write]
            written = [touch for touch in facts.touches[number] if touch.write]
            if len(read) == len(written) == 1 and not _staged(facts, read[0], written[0]):
                yield number, leaf, read[0], written[0]


def _staged(facts: Facts, read: Touch, written: Touch) -> bool:
    source, target = (facts.buffers[each.access.buffer] for each in (read, written))
    return source.device == target.device and source.space != target.space


def ends(facts: Facts, read: Touch, written: Touch) -> tuple[str, str]:
    """Return the devices that a copy is between."""
    return facts.buffers[read.access.buffer].device, facts.buffers[written.access.buffer].device


def bytes_of(facts: Facts, node: Node) -> int:
    """Return how many bytes the value of a node has."""
    return math.prod(sizes(node.shape, facts.values)) * NUMPY[node.dtype].itemsize


def _remote(facts: Facts, number: int) -> int:
    """Return the bytes that a part moves between devices."""
    leaf = facts.leaves[number]
    if isinstance(leaf, Copy):
        return sum(size(touch.ranges) for touch in facts.touches[number] if touch.write)
    own = leaf.device if isinstance(leaf, Kernel) else ""
    return sum(size(t.ranges) for t in facts.touches[number] if facts.buffers[t.access.buffer].device != own)


def measured(facts: Facts) -> Iterator[tuple[Collective, int, int, int]]:
    """Yield the all_reduces in parts of known value, with a block's bytes, those moved, and those needed."""
    for whole in (item for item in facts.schedule.items if isinstance(item, Collective)):
        count = len(whole.participants)
        parts = [number for number, (_, owner) in enumerate(facts.owned) if owner is whole]
        made = {t.access.node for n in parts for t in facts.touches[n] if t.write and t.access.node is not None}
        made |= set(whole.provenance)
        reduced = [facts.nodes[name] for name in made if "all_reduce" in {facts.nodes[name].op, facts.nodes[name].arg}]
        if parts and reduced and whole.algorithm in BLOCKS:
            block = max(bytes_of(facts, node) for node in (reduced[0], *(facts.nodes[name] for name in reduced[0].of)))
            moved = sum(_remote(facts, number) for number in parts)
            yield whole, block, moved, BLOCKS[whole.algorithm](count) * block


def remote_bytes(facts: Facts) -> str | None:
    """Find an all_reduce whose parts move more bytes than its algorithm needs; of one without a value nobody knows."""
    told = []
    for whole, block, moved, most in measured(facts):
        if moved > most:
            return (
                f"item {whole.id!r}: {whole.algorithm or 'all_reduce'} of {block} bytes over "
                f"{len(whole.participants)} devices moves {moved} bytes between them; {most} do"
            )
        told.append(whole)
    return None if all(whole in told for whole in _in_parts(facts)) else SILENT


def _in_parts(facts: Facts) -> list[Collective]:
    items = [item for item in facts.schedule.items if isinstance(item, Collective)]
    return [item for item in items if item.op == "all_reduce" and item.parts]


def ring_copies(facts: Facts) -> Iterator[tuple[int, Collective, str, str]]:
    """Yield the copies that are parts of rings, with the devices they are between."""
    for number, _, read, written in copies(facts):
        owner = facts.owned[number][1]
        if owner is not None and owner.algorithm == "ring":
            yield number, owner, *ends(facts, read, written)


def ring_edges(facts: Facts) -> str | None:
    """Find a copy of a ring that is not from a participant to the next."""
    for number, owner, source, target in ring_copies(facts):
        for end in (source, target):
            if end not in owner.participants:
                return f"{facts.name(number)} goes from {source} to {target}; {end} is not in the ring"
        following = owner.participants[(owner.participants.index(source) + 1) % len(owner.participants)]
        if following != target:
            return f"{facts.name(number)} goes from {source} to {target}; next in the ring is {following}"
    return None
