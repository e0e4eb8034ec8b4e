"""Which results are written straight into the storage that they would be copied to.

A result that fills a whole storage in C order may lie there from the beginning, if whatever reads that storage as it
was before has done so when the first of the result is written. A reduction that makes the result may read it as it
goes, each element at the point where it writes it: then a sum in place needs no other storage. Else the result has a
storage of its own, and is copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from conformance.backends.opencl.graph.node import Buffer, Movement, Node, Reduce, Write, Written, before, needs, root
from conformance.backends.opencl.graph.view import contiguous
from conformance.backends.opencl.schedule.elision.joins import Filled
from conformance.backends.opencl.schedule.elision.multicast import Multicasts
from conformance.backends.opencl.schedule.item import Region
from conformance.backends.opencl.schedule.order import readers
from conformance.backends.opencl.schedule.regions import Span, region


def elided_copies(
    order: Sequence[Node], results: tuple[Movement, ...], fill: Filled, shared: Multicasts, alignment: int
) -> dict[Node, Write]:
    """Return the write that each such result is, for nodes that are computed in ``order``."""
    position = {node: number for number, node in enumerate(order)}
    began = dict(position)
    for filler, places in fill.within.items():
        for join, _, _ in places:
            began[join] = min(began[join], position[filler])
    for places in shared.values():
        # One kernel, in the turn of the first, writes to all of them.
        for join, _, _ in places:
            began[join] = min(began[join], position[places[0][0]])
    uses = Counter(read for node in order for read in needs(node))
    uses.update(block.node for block in results)
    found: dict[Node, Write] = {}
    for write, behind in readers(order).items():
        if isinstance(write, Write) and _fits(write) and uses[write.value.node] == 1:
            value = write.value.node
            makers = _makers(value, fill)
            apart = (node for node in behind if not _in_step(node, makers, write.before, alignment))
            if max(position[node] for node in (write.before, *apart)) < began[value]:
                found[value] = write
    return found


def _makers(value: Node, fill: Filled) -> dict[Node, Span]:
    """Return the nodes that make a value, each with the elements of it that it makes."""
    if value not in fill.joins:
        return {value: (0, value.size)}
    return {
        maker: (first, first + size)
        for maker, places in fill.within.items()
        for join, first, size in places
        if join is value
    }


def _in_step(node: Node, makers: Mapping[Node, Span], before: Node, alignment: int) -> bool:
    """Return whether a maker of a value reads ``before`` only where it writes, element for element.

    Both are bound as the same memory object, for what is done to one that shares bytes with another is undefined.
    """
    if node not in makers or not isinstance(node, Reduce) or node.local:
        return False
    first, stop = makers[node]
    read = [operand for operand in node.operands if root(operand.node) is root(before)]
    return (
        node.first == first
        and all(each.node is before and each.view == contiguous(each.view.shape) for each in read)
        and region(before, (first, stop), alignment) == Region(before, first, stop - first)
    )


def _fits(write: Write) -> bool:
    value = write.value
    return (
        not isinstance(value.node, Buffer | Write)
        and write.at.shape == value.view.shape
        and write.at == value.view == contiguous(write.at.shape)
        and write.at.size == value.node.size == write.size
    )


def storage_makers(order: Sequence[Node], inside: Mapping[Node, Write], taken: Mapping[Node, Node]) -> dict[Node, Node]:
    """Return the node that made the storage, for all nodes that lie in the storage of another.

    Those ``inside`` are written where a write would copy them, and others have the storage of an operand they have
    ``taken``.
    """
    found: dict[Node, Node] = {}
    for node in order:
        below = before(node) if isinstance(node, Write | Written) else taken.get(node)
        if below is not None:
            found[node] = found.get(below, below)
    return found | {result: found[write] for result, write in inside.items()}
