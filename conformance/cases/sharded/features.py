"""Features of sharded cases: the words that claims are made of."""

from __future__ import annotations

import itertools
import math
from typing import Final

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.features import FEATURES as OF_GRAPHS
from conformance.cases.graph.features import graph_features
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Mesh, Placement, even_cuts
from conformance.cases.sharded.validate import MOST_AXES, MOST_DEVICES

_LEFT_OUT: Final = ("devices", "size")

PLACEMENTS: Final = (
    *("replicated", "even", "uneven", "bounds", "empty", "several", "reversed", "crossed", "masked"),
    *("no_axis", "no_mesh_axis", "outside", "parts"),
)

FEATURES: Final[dict[str, tuple[str, ...]]] = {
    **{name: words for name, words in OF_GRAPHS.items() if name not in _LEFT_OUT},
    "homes": PLACEMENTS,
    "moves": ("none", *PLACEMENTS, "partial"),
    "mesh": tuple(str(axes) for axes in range(1, MOST_AXES + 1)),
    "world": tuple(str(count) for count in range(1, MOST_DEVICES + 1)),
    "order": ("plain", "turned"),
    "steps": ("inside", "across"),
    "operands": ("alike", "mixed"),
    "parts": ("kept", "taken"),
}
"""Every feature and its words; those of graphs mean what they mean there.

``homes`` are placements of buffers, ``moves`` those of what is moved, ``partial`` ones of what stays pending. Axes are
cut ``even``, ``uneven`` as by default, or by other ``bounds``; some parts are ``empty``; one axis is cut by ``several``
mesh axes, in an order that is not the mesh's (``reversed``), or two are (``crossed``). Placements without a meaning cut
an axis that the tensor does not have (``no_axis``), or along a mesh axis that is not there or is used twice
(``no_mesh_axis``); a tensor ``outside`` the mesh meets one of it, and ``parts`` say of which dtypes they are.
``order``: devices are in the order of their numbers or not. ``steps`` are all ``inside`` parts by
the rules of ``tinygrad.multi``, or some are ``across`` them, which that source refuses. ``operands`` that are split are
so ``alike`` in each step, or not in some. Of ``parts`` some are ``taken`` where a range of a split axis is one of them,
or all are ``kept``.
"""

Words = frozenset[str]


def sharded_features(case: ShardedCase) -> dict[str, Words]:
    """Return the words of each feature of a well-formed case that its meaning is not needed for."""
    of_graph = {name: words for name, words in graph_features(case.of).items() if name not in _LEFT_OUT}
    homes = [(case.homes.get(name, REPLICATED), each.shape) for name, each in case.of.buffers.items()]
    moves = [
        (case.moves.get(node.id, REPLICATED), tuple(int(dim) for dim in sizes(node.shape, case.of.graph.most)))
        for node in case.of.graph.nodes
        if node.op == "copy" or node.id in case.moves
    ]
    return {
        **of_graph,
        "homes": frozenset(word for each, shape in homes for word in placement_words(each, shape, case.mesh)),
        "moves": frozenset(word for each, shape in moves for word in placement_words(each, shape, case.mesh))
        or frozenset({"none"}),
        "mesh": frozenset({str(len(case.mesh))}),
        "world": frozenset({str(case.world)}),
        "order": frozenset({"plain" if case.devices == tuple(sorted(case.devices)) else "turned"}),
    }


def placement_words(placement: Placement, shape: tuple[int, ...], mesh: Mesh) -> set[str]:
    """Return what a placement of a tensor is; one that does not tile its axis has ``bounds`` of its own."""
    counts = {axis.name: axis.size for axis in mesh}
    found: set[str] = set()
    order = [axis.name for axis in mesh]
    used = [name for split in placement.splits for name in split.along]
    if len(set(used)) < len(used) or not set(used) <= set(order):
        return {"no_mesh_axis"}
    if any(not 0 <= split.axis < len(shape) for split in placement.splits):
        return {"no_axis"}
    for split in placement.splits:
        widths = [end - begin for begin, end in itertools.pairwise(split.cuts)]
        parts = math.prod(counts.get(name, 0) for name in split.along)
        plain = parts > 0 and split.cuts == even_cuts(shape[split.axis], parts)
        found.add("bounds" if not plain else "even" if len(set(widths)) < 2 else "uneven")
        if 0 in widths:
            found.add("empty")
        if len(split.along) > 1:
            found.add("several")
            if [name for name in order if name in split.along] != list(split.along):
                found.add("reversed")
    if len(placement.splits) > 1:
        found.add("crossed")
    if placement.masks:
        found.add("masked")
    if placement.partial:
        found.add("partial")
    if placement.outside:
        found.add("outside")
    if placement.made_of is not None:
        found.add("parts")
    return found or {"replicated"}
