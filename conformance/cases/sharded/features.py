"""Features of sharded cases: the words that claims are made of."""

from __future__ import annotations

import itertools
from typing import Final

from conformance.cases.graph.features import FEATURES as OF_GRAPHS
from conformance.cases.graph.features import graph_features
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement
from conformance.cases.sharded.validate import MOST_AXES, MOST_DEVICES

_LEFT_OUT: Final = ("devices", "extents", "size")

FEATURES: Final[dict[str, tuple[str, ...]]] = {
    **{name: words for name, words in OF_GRAPHS.items() if name not in _LEFT_OUT},
    "placement": ("replicated", "even", "uneven", "empty", "several", "crossed", "masked", "partial"),
    "moves": ("none", "to_replicated", "to_split", "to_masked", "to_partial"),
    "mesh": tuple(str(axes) for axes in range(1, MOST_AXES + 1)),
    "world": tuple(str(count) for count in range(1, MOST_DEVICES + 1)),
    "order": ("plain", "turned"),
    "steps": ("inside", "across"),
}
"""Every feature and its words; those of graphs mean what they mean there.

``placement`` is of buffers and of what is moved: axes are cut ``even``, or ``uneven`` and some parts ``empty``, one by
``several`` mesh axes, two ``crossed``. ``order``: devices are in the order of their numbers or not. ``steps`` are all
``inside`` parts by the rules of ``tinygrad.multi``, or some are ``across`` them, which that source refuses.
"""

Words = frozenset[str]


def sharded_features(case: ShardedCase) -> dict[str, Words]:
    """Return the words of each feature that a well-formed case has, but for ``index`` and ``steps``."""
    of_graph = {name: words for name, words in graph_features(case.of).items() if name not in _LEFT_OUT}
    placements = [*case.homes.values(), *case.moves.values()]
    if set(case.of.buffers) - set(case.homes):
        placements.append(Placement())
    kinds = {node.id: node.op for node in case.of.graph.nodes}
    moves = {
        _moved(case.moves.get(name, Placement())) for name, op in kinds.items() if op == "copy" or name in case.moves
    }
    return {
        **of_graph,
        "placement": frozenset(word for placement in placements for word in placement_words(placement)),
        "moves": frozenset(moves or {"none"}),
        "mesh": frozenset({str(len(case.mesh))}),
        "world": frozenset({str(case.world)}),
        "order": frozenset({"plain" if case.devices == tuple(sorted(case.devices)) else "turned"}),
    }


def _moved(placement: Placement) -> str:
    if placement.partial:
        return "to_partial"
    if placement.masks:
        return "to_masked"
    return "to_split" if placement.splits else "to_replicated"


def placement_words(placement: Placement) -> set[str]:
    """Return what a placement is."""
    found: set[str] = set()
    for split in placement.splits:
        widths = {end - begin for begin, end in itertools.pairwise(split.cuts)}
        found |= {"even"} if len(widths) < 2 else {"uneven"} | ({"empty"} if 0 in widths else set())
        if len(split.along) > 1:
            found.add("several")
    if len(placement.splits) > 1:
        found.add("crossed")
    if placement.masks:
        found.add("masked")
    if placement.partial:
        found.add("partial")
    return found or {"replicated"}
