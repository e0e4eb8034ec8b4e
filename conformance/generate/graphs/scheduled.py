"""Graphs to be scheduled: chains over the vocabulary of graph cases on one to four devices, asked for once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from conformance.cases.graph.graph import LEAVES, Graph, pruned
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.graphs import SHAPES, bind, swarms
from conformance.generate.graphs.meetings import meet
from conformance.generate.graphs.rewrites import REWRITES
from conformance.generate.graphs.steps import STEPS
from conformance.generate.grow import grow

DEEP: Final = ((2, 3, 4), (4, 3, 2), (2, 2, 2, 3), (3, 2, 2, 2), (2, 2, 2, 2))
"""Shapes of buffers in long graphs, in which several reduces follow each other."""

LARGE: Final = ((8192,), (2, 8192), (260, 1024))
"""Shapes past thresholds: reductions of 8,192 terms, at which schedulers split them, and storages of 1 MiB, at which
they plan. Interpreters take seconds for one operation, so that such graphs are few and short."""

SHARE_OF_LARGE: Final = 50
"""Of how many draws one has a large shape."""

LENGTH: Final = 56
"""Nodes of a graph that are no leaves, at most."""

LONG: Final = 10
"""Steps past which a graph is long."""

LENGTHS: Final = (7, 4, 20, 3, 8, 6, 36, 5, 7, 16, 2, 9, 12, 32)
DEVICES: Final = (1, 1, 2, 2, 3, 4)
VARIABLES: Final = ("", "", "", "", "n", "nm")

_FORCED: Final = choices.sampled_from((None, True))


def _copied(asked: GraphDraft) -> bool:
    """Go on with a copy on a device, which says now and then that it is made even where it need not be."""
    device = asked.draw(choices.sampled_from(sorted({node.device for node in asked.nodes})))
    return asked.same("copy", device=device, arg=asked.draw(_FORCED))


def _met(asked: GraphDraft) -> bool:
    """Go on with what a device receives where all meet: mostly a fold, for which every engine has a word."""
    return meet(asked, calls=chance(asked.draw, 8)) or _copied(asked)


def _rewritten(asked: GraphDraft) -> bool:
    """Go on with movement in a row, of which something may be computed between, and compute on what it gives."""
    kind = asked.draw(choices.sampled_from(("computed between", "computed between", "moved twice")))
    return REWRITES[kind](asked) and STEPS["elementwise"](asked)


CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "elementwise": ("elementwise", "elementwise", "variable"),
    "convert": ("convert", "compare"),
    "reduce": ("reduce",),
    "reshape": ("reshape",),
    "turn": ("turn",),
    "window": ("window",),
    "widen": ("pad", "expand"),
    "keep": ("keep", "keep", "called"),
    "cross": ("copied", "met"),
    "assign": ("assign",),
    "rewritten": ("rewritten",),
}
"""The words of each class of steps, each of which is drawn as often as the next."""

VOCABULARY: Final[Mapping[str, Callable[[GraphDraft], bool]]] = {
    **STEPS,
    "copied": _copied,
    "met": _met,
    "rewritten": _rewritten,
}


@choices.composite
def graphs(draw: Draw) -> Graph:
    """Draw a graph: buffers of one shape, a chain of steps, and several results.

    Some have one or two variables, as extents and as values.
    """
    large = draw(choices.integers(0, SHARE_OF_LARGE - 1)) == SHARE_OF_LARGE - 1
    length = draw(choices.integers(3, 4)) if large else draw(choices.sampled_from(LENGTHS))
    asked = _begun(draw, draw(choices.sampled_from(LARGE if large else DEEP if length > LONG else SHAPES)), large=large)
    for _ in range(length):
        word = draw(choices.sampled_from(CLASSES[draw(choices.sampled_from(tuple(CLASSES)))]))
        if chance(draw, 6):
            asked.head = asked.pick()
        grow(asked, VOCABULARY, (word,), plain="elementwise")
        if chance(draw, 3):
            _beside(asked)
        if sum(node.op not in LEAVES for node in asked.nodes) >= LENGTH:
            break
    return _asked_for(asked, length)


def _begun(draw: Draw, shape: tuple[int, ...], *, large: bool) -> GraphDraft:
    """Return a graph of two or three buffers on the first device and two on each other, of which something is used."""
    # Bodies of kernels have operations on values of one dtype alone.
    asked = GraphDraft(draw, draw(swarms())._replace(regime="small"), mixed=False)
    dtypes = asked.swarm.dtypes
    devices = 1 if large else draw(choices.sampled_from(DEVICES))
    for name in draw(choices.sampled_from(VARIABLES)) if 0 not in shape and not large else "":
        bind(asked, name, shape)
    for device in range(devices):
        for dtype in (dtypes[0], dtypes[-1], dtypes[0])[: 2 + (device == 0)]:
            asked.buffer(shape, dtype, f"d{device}")
        asked.head = asked.nodes[-2]
        if device:
            _beside(asked)
    asked.head = asked.nodes[0]
    return asked


def _beside(asked: GraphDraft) -> None:
    """Make something of the head that is asked for, and that the chain does not go on from."""
    at = asked.head
    grow(asked, VOCABULARY, ("elementwise",), plain="keep")
    asked.wanted.append(asked.head.id)
    asked.head = at


def _asked_for(asked: GraphDraft, length: int) -> Graph:
    """Draw what is asked for: the last node, and the more of the others the more steps there are.

    No engine computes by itself what is made of no buffer.
    """
    draw, held = asked.draw, set[str]()
    for node in asked.nodes:
        if node.op == "buf" or held & set(node.of):
            held.add(node.id)
    made = [node.id for node in asked.nodes if node.op not in LEAVES and node.id in held]
    made = made or [asked.nodes[0].id]
    some = [made[draw.source.below(len(made))] for _ in range(draw(choices.integers(0, 1 + length // 4)))]
    # On all devices: few engines reduce to some of them alone.
    met = [node.id for node in asked.nodes if node.op in ("all_reduce", "collective")] if chance(draw, 2) else []
    last = asked.head.id if asked.head.id in made else made[-1]
    results = dict.fromkeys((last, *(name for name in asked.wanted if name in made), *some, *met))
    nodes, functions = tuple(asked.nodes), asked.functions
    return pruned(Graph(nodes=nodes, results=tuple(results), functions=functions, variables=asked.variables))
