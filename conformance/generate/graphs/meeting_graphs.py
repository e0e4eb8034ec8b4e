"""Graphs to be scheduled in which devices meet many times, side by side, each time on storage of its own.

Engines tell meetings apart by what they meet in: by how many bytes that has, and by whether these are known.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.graph import Graph, pruned
from conformance.cases.tensor.dtypes import NUMPY
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.graphs import bind, swarms
from conformance.generate.graphs.meetings import meet
from conformance.generate.graphs.steps import STEPS
from conformance.generate.grow import grow, words_of

EXTENTS: Final = (4, 8)
"""The greatest extents that variables give."""

BEFORE: Final = ("turn", "keep", "narrow")
"""Steps before what is computed for a meeting. None changes how many elements there are, unless a variable says it."""

AFTER: Final = ("elementwise", "window", "reduce", "pad", "assign", "convert")
"""Steps that what was received goes into."""

_BYTES: Final = choices.sampled_from((128, 64))
_MORE: Final = choices.sampled_from((0, -1, 0, 1))
_MEETINGS: Final = choices.sampled_from((8, 6, 10, 4))
_DEVICES: Final = choices.integers(2, 4)
_FEW: Final = choices.integers(0, 1)
_VARIABLES: Final = choices.sampled_from(("", "n"))


@choices.composite
def meeting_graphs(draw: Draw) -> Graph:
    """Draw a graph of several meetings, of operands that are mostly computed, each asked for by itself."""
    asked = GraphDraft(draw, draw(swarms())._replace(regime="small"), mixed=False)
    devices = [f"d{number}" for number in range(draw(_DEVICES))]
    for name in draw(_VARIABLES):
        bind(asked, name, EXTENTS)
    for number in range(draw(_MEETINGS)):
        dtype = asked.swarm.dtypes[number % len(asked.swarm.dtypes)]
        shape = around(draw, dtype)
        for device in devices[1:] if not number else ():
            asked.buffer(shape, dtype, device)
        asked.head = asked.buffer(shape, dtype, devices[0])
        grow(asked, STEPS, words_of(draw, BEFORE, draw(_FEW)), plain="elementwise")
        grow(asked, STEPS, () if chance(draw, 4) else ("elementwise",))
        symbolic = any(isinstance(extent, str) for extent in asked.head.shape)
        if not meet(asked, calls=not symbolic and not chance(draw, 4)):
            STEPS["elementwise"](asked)
        if chance(draw, 2):
            grow(asked, STEPS, words_of(draw, AFTER), plain="elementwise")
        asked.wanted.append(asked.head.id)
    results = tuple(dict.fromkeys(asked.wanted))
    return pruned(Graph(nodes=tuple(asked.nodes), results=results, variables=asked.variables))


def around(draw: Draw, dtype: str) -> tuple[int, ...]:
    """Draw a shape of as many elements as there are in a line of a cache or two, or of one less or one more.

    Around so few bytes engines choose another way for devices to meet.
    """
    count = draw(_BYTES) // NUMPY[dtype].itemsize + draw(_MORE)
    return (2, count // 2) if count % 2 == 0 and chance(draw, 2) else (count,)
