"""Nodes that no kernel is needed for, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.schedule.index_map import Indices
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.reference.byte_ranges import NOTHING, overlap
from conformance.reference.graph.movement import Stored, moved
from conformance.reference.schedule.facts import Facts

Reason = Callable[[Facts, Node], bool]


def _empty(facts: Facts, node: Node) -> bool:
    return 0 in sizes(node.shape, facts.values)


def constant(facts: Facts, node: Node) -> bool:
    """Say of constants and of what elementwise operations, casts and movement make of constants alone."""
    return node.id in facts.constants


def variable(facts: Facts, node: Node) -> bool:  # noqa: ARG001 - the signature of ``Reason``
    """Say of variables."""
    return node.op == "var"


def realised(facts: Facts, node: Node) -> bool:
    """Say of buffers that hold data already."""
    return node.op == "buf" and facts.is_given(str(node.arg))


def undefined(facts: Facts, node: Node) -> bool:
    """Say of buffers that hold none."""
    return node.op == "buf" and not facts.is_given(str(node.arg))


def _same_place(facts: Facts, node: Node) -> bool:
    """Return whether a movement leaves every element of its source where it is."""
    if node.op not in MOVEMENT or node.op == "detach":
        return False
    shape = sizes(facts.nodes[node.of[0]].shape, facts.values)
    if sizes(node.shape, facts.values) != shape:
        return False
    at = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    return bool(np.array_equal(moved(node, at, -1, facts.values), at))


def view(facts: Facts, node: Node) -> bool:
    """Say of movement of a buffer, pads apart: they add what the buffer does not hold."""
    if node.op not in MOVEMENT or node.op == "detach" or node.id not in facts.stored or _same_place(facts, node):
        return False
    return bool((facts.stored[node.id].at >= 0).all()) and not _empty(facts, node)


def unmoving(facts: Facts, node: Node) -> bool:
    """Say of movement that moves nothing, of whatever."""
    return _same_place(facts, node) and not constant(facts, node) and not _empty(facts, node)


def _changes(facts: Facts, name: str, after: Node) -> bool:
    """Return whether what a node names is storage that is assigned to later in the program than another node."""
    if name not in facts.stored:
        return False
    root, ranges = facts.node_bytes(name)
    later = [stored for by, stored in facts.assigned if facts.program[by] > facts.program[after.id]]
    targets = [facts.stored_bytes(stored) for stored in later]
    return any(root == other and overlap(ranges, taken) for other, taken in targets)


def contiguous_already(facts: Facts, node: Node) -> bool:
    """Say of a contig of a contig, and of one of all of a buffer in order that nothing is assigned to later."""
    return _in_order(facts, node) and not _changes(facts, node.of[0], node)


def _in_order(facts: Facts, node: Node) -> bool:
    if node.op != "contig":
        return False
    stored = facts.stored.get(node.of[0])
    if stored is None:
        return facts.nodes[node.of[0]].op == "contig"
    buffer = facts.buffers[stored.buffer]
    return bool(np.array_equal(stored.at.reshape(-1), np.arange(buffer.size // NUMPY[buffer.dtype].itemsize)))


def empty(facts: Facts, node: Node) -> bool:
    """Say of values without an element."""
    return _empty(facts, node) and node.op not in {"assign", "const", "buf"}


def identity(facts: Facts, node: Node) -> bool:
    """Say of a reduce over an axis without elements: it is the identity of its operation."""
    return node.op == "reduce" and _empty(facts, facts.nodes[node.of[0]]) and not _empty(facts, node)


def of_one_term(facts: Facts, node: Node) -> bool:
    """Say of a reduce of one term for each result: along axes of extent 1, or along none, it is its source.

    Of storage that is assigned to later it is what was there before, and has to be kept.
    """
    if node.op != "reduce" or _empty(facts, node) or constant(facts, node) or _narrower(facts, node):
        return False
    if _changes(facts, node.of[0], node):
        return False
    # An extent that is a variable may have another value, for which the kernel is the same.
    axes = node.arg if isinstance(node.arg, tuple) else ()
    return all(facts.nodes[node.of[0]].shape[int(str(axis))] == 1 for axis in axes)


def _narrower(facts: Facts, node: Node) -> bool:
    """Return whether a reduce may change a term by the dtype that it accumulates in, or by its own."""
    given = facts.nodes[node.of[0]].dtype
    wide = node.acc or given
    kept = kind(wide) == kind(given) and promoted((wide, given)) == wide
    return not kept or node.dtype != given


def detached(facts: Facts, node: Node) -> bool:  # noqa: ARG001 - the signature of ``Reason``
    """Say of detach: it means something to gradients alone."""
    return node.op == "detach"


def itself(facts: Facts, node: Node) -> bool:
    """Say of an assign of what is there already, by a contig or a copy to where it is too: nothing moves for those."""
    if node.op != "assign" or _empty(facts, node):
        return False
    value = facts.nodes[node.of[1]]
    taken = value
    while _in_order(facts, taken) or _stays(facts, taken):
        taken = facts.nodes[taken.of[0]]
    if taken.id not in facts.stored:
        return False
    target, source = facts.stored[node.of[0]], facts.stored[taken.id]
    root, ranges = facts.node_bytes(taken.id)
    between = list(facts.nodes.values())[facts.program[taken.id] : facts.program[node.id]]
    # What is storage all along is taken by the assign itself; a value keeps what was there before any other assign.
    changed = taken is not value and any(
        each.op == "assign" and overlap(_bytes(facts, each.id, root), ranges) and not itself(facts, each)
        for each in between
    )
    return _same_elements(facts, target, source) and not changed


def _bytes(facts: Facts, name: str, root: str) -> Indices:
    """Return which bytes of a storage a name of storage stands for."""
    found, ranges = facts.node_bytes(name)
    return ranges if found == root else NOTHING


def _same_elements(facts: Facts, one: Stored, other: Stored) -> bool:
    """Return whether two names of storage, of one dtype, are the same elements, whatever buffers show them."""
    (root, offset), (home, beginning) = facts.root(one.buffer), facts.root(other.buffer)
    width = NUMPY[facts.buffers[one.buffer].dtype].itemsize
    return root == home and bool(np.array_equal(offset + one.at * width, beginning + other.at * width))


def of_nothing(facts: Facts, node: Node) -> bool:
    """Say of an assign of a buffer that holds nothing and was never assigned to."""
    if node.op != "assign" or node.of[1] not in facts.stored or _empty(facts, node):
        return False
    root, ranges = facts.node_bytes(node.of[1])
    written = [(root, facts.given[root])] if root in facts.given else []
    written += [facts.stored_bytes(stored) for by, stored in facts.assigned if by != node.id]
    held = any(root == other and overlap(ranges, taken) for other, taken in written)
    padded = (facts.stored[node.of[1]].at < 0).any()
    return not held and not padded and not itself(facts, node)


def same_device(facts: Facts, node: Node) -> bool:
    """Say of a copy to where the value is, of storage that nothing is assigned to later."""
    return _stays(facts, node) and not _changes(facts, node.of[0], node)


def _stays(facts: Facts, node: Node) -> bool:
    return node.op == "copy" and node.arg is not True and facts.nodes[node.of[0]].device == node.device


def of_constant(facts: Facts, node: Node) -> bool:
    """Say of a copy of a constant: it is a constant there."""
    return node.op == "copy" and constant(facts, facts.nodes[node.of[0]]) and not same_device(facts, node)


def there_and_back(facts: Facts, node: Node) -> bool:
    """Say of a copy back to the device that the value was copied from, unless that is assigned to since."""
    source = _made(facts, node.of[0]) if node.op == "copy" else node
    if node.op != "copy" or source.op != "copy" or True in {node.arg, source.arg}:
        return False
    there = facts.nodes[source.of[0]].device == node.device != source.device
    return there and not _changes(facts, source.of[0], source)


def _made(facts: Facts, name: str) -> Node:
    """Return the node that makes a value: not one that only hands it on."""
    node = facts.nodes[name]
    while any(reason(facts, node) for reason in (detached, unmoving)):
        node = facts.nodes[node.of[0]]
    return node


def copied_from(facts: Facts, node: Node) -> str:
    """Return what a copy that is ``there_and_back`` brings back."""
    return _made(facts, node.of[0]).of[0]


def alias(facts: Facts, node: Node) -> str | None:
    """Return the node whose value this one is without anything being done, or ``None``."""
    if any(reason(facts, node) for reason in (detached, unmoving, contiguous_already, same_device)):
        return node.of[0]
    return copied_from(facts, node) if there_and_back(facts, node) else None


REASONS: Final[tuple[Reason, ...]] = (
    constant,
    realised,
    view,
    unmoving,
    contiguous_already,
    empty,
    identity,
    of_one_term,
    detached,
    undefined,
    variable,
    itself,
    of_nothing,
    same_device,
    of_constant,
    there_and_back,
)


def free(facts: Facts, node: str) -> bool:
    """Return whether no kernel is needed for a node."""
    return any(reason(facts, facts.nodes[node]) for reason in REASONS)
