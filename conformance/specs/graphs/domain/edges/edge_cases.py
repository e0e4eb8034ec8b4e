"""Identities of numbers at the edges where elements of a dtype break them, each with the data in which that shows.

A pattern is a function that lists a few nodes and returns those to ask for. A case holds several patterns, in turn, so
that a run of 300 draws has each of them. Half of the cases list everything again in a second round, with other
contents: there a cache that knows too little of a node shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.case import GraphCase
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import seldom
from conformance.specs.graphs.domain.edges.arithmetic import EXTREMES, IDENTITIES
from conformance.specs.graphs.domain.edges.conversions import CONVERSIONS
from conformance.specs.graphs.domain.edges.folds import FOLDS
from conformance.specs.graphs.domain.edges.moves import MOVES
from conformance.specs.graphs.domain.edges.pattern import Pattern
from conformance.specs.graphs.domain.edges.products import PRODUCTS
from conformance.specs.graphs.domain.edges.storages import STORAGES
from conformance.specs.graphs.domain.edges.views import VIEWS, outside
from conformance.specs.graphs.domain.listing import Edge
from conformance.specs.graphs.domain.unfinished_case import Asked, Words

INTEGERS: Final = ("int32", "int8", "int64", "uint8", "int16", "uint32", "uint64")
FLOATS: Final = ("float32", "float16", "float64", "bfloat16", "float32")
TOGETHER: Final = 4
"""Patterns in a case: with that each is in one or two of the about 17 cases of 300 draws, of some 100 to 400 nodes."""

APART: Final = 7
"""Of so many cases one is of indices outside alone: two or three of 300 draws."""

LATE: Final = 20
"""Values at most that were computed in the first round and are asked for in the second, when contents are others."""

PATTERNS: Final[Mapping[str, Pattern]] = {
    **IDENTITIES,
    **CONVERSIONS,
    **EXTREMES,
    **FOLDS,
    **MOVES,
    **STORAGES,
    **VIEWS,
    **PRODUCTS,
}
"""Every pattern by its name."""


def edges(draw: Draw, turn: int) -> GraphCase:
    """Draw the case of a turn: its patterns go on where those of the turn before ended."""
    every = [*PATTERNS.values()]
    words = Words(dtypes=(), alu=(), folds=(), steps=(), regime="small", plain=True)
    asked = Asked(draw, words)
    edge = Edge(asked, draw(choices.sampled_from(INTEGERS)), draw(choices.sampled_from(FLOATS)))
    # Of the cases before it those apart hold no pattern.
    before = turn - turn // APART
    places = range(before * TOGETHER, (before + 1) * TOGETHER)
    # An index that is no element's leaves all values of a case open: a case of its own.
    listed = [outside] if turn % APART == APART - 1 else [every[number % len(every)] for number in places]
    for pattern in listed:
        asked.wanted += [node.id for node in pattern(edge)]
    last = [*asked.wanted]
    asked.close(tuple(asked.buffers))
    if turn % 2:
        _again(asked, last)
    return asked.case()


def _again(asked: Asked, last: list[str]) -> None:
    """List every node again under another name, on other contents, and ask for the old values and the new ones."""
    names: dict[str, str] = {}
    for node in [*asked.nodes]:
        if node.op == "buf":
            continue
        made = replace(node, id=f"n{len(asked.nodes)}", of=tuple(names.get(each, each) for each in node.of))
        names[node.id] = made.id
        asked.nodes.append(made)
    for name, held in asked.buffers.items():
        # Other values at every place, of the same dtype: those of the mirrored place.
        asked.writes[name] = from_array(np.ascontiguousarray(np.flip(to_array(held))))
    # No round gives the variable now: it has the value that the graph gives it.
    asked.bound.clear()
    late = [node for node in asked.nodes if node.id in names and node.id not in last and node.op in ("alu", "cast")]
    fixed = [node.id for node in late if not any(isinstance(extent, str) for extent in node.shape)]
    # Some of each pattern: all along the list.
    asked.wanted = [*last, *fixed[:: -(-len(fixed) // LATE) or 1], *(names.get(each, each) for each in last)]
    asked.close(tuple(asked.buffers))


def edge_case(draw: Draw) -> GraphCase | None:
    """Return the case of patterns of a seldom draw, or ``None`` for any other draw."""
    turn = seldom(draw)
    return None if turn is None else edges(draw, turn)
