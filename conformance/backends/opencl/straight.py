"""Which results are written straight into the storage that they would be copied to.

A result that fills a whole storage in C order may lie there from the beginning, if whatever reads that storage as it
was before has done so when the first of the result is written. Else it has a storage of its own, and is copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from conformance.backends.opencl.fuse import Filled
from conformance.backends.opencl.graph import Buffer, Movement, Node, Write
from conformance.backends.opencl.order import needs, readers
from conformance.backends.opencl.spread import Spread
from conformance.backends.opencl.view import contiguous


def straight(order: Sequence[Node], results: tuple[Movement, ...], fill: Filled, shared: Spread) -> dict[Node, Write]:
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
            earlier = max(position[node] for node in (write.before, *behind))
            if earlier < began[write.value.node]:
                found[write.value.node] = write
    return found


def _fits(write: Write) -> bool:
    value = write.value
    return (
        not isinstance(value.node, Buffer | Write)
        and write.at.shape == value.view.shape
        and write.at == value.view == contiguous(write.at.shape)
        and write.at.size == value.node.size == write.size
    )


def lying(order: Sequence[Node], inside: dict[Node, Write]) -> dict[Node, Node]:
    """Return the node that made the storage, for all nodes that lie in the storage of another."""
    found: dict[Node, Node] = {}
    for node in order:
        if isinstance(node, Write):
            found[node] = found.get(node.before, node.before)
    return found | {result: found[write] for result, write in inside.items()}
