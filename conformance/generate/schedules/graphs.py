"""Random graphs for lazy engines: chains of steps over a grammar, of which each draw switches parts off.

A chain goes on from what it made last, or from an earlier node; ``graph_steps`` has the steps.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.graph import Graph, Variable, pruned
from conformance.cases.graph.situations import CLASSES
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.grow import grow
from conformance.generate.schedules.graph_nodes import GraphChain
from conformance.generate.schedules.graph_steps import STEPS, beside
from conformance.generate.schedules.swarms import swarms

SHAPES: Final = ((2, 3), (4,), (2, 2), (3, 2, 2), (2, 1, 3), (1, 4), (8,), (2, 3, 2), (1,), (4, 3), (0, 3), (12,))
"""Shapes of buffers in short graphs; one of them holds nothing."""

DEEP: Final = ((2, 3, 4), (4, 3, 2), (2, 2, 2, 3), (3, 2, 2, 2), (2, 2, 2, 2))
"""Shapes of buffers in long ones, in which several reduces follow each other."""

LARGE: Final = ((8192,), (2, 8192), (260, 1024))
"""Shapes past thresholds: reductions of 8,192 terms, at which schedulers split them, and storages of 1 MiB, at which
they plan. Interpreters take seconds for one operation, so that such graphs are few and short."""

SHARE_OF_LARGE: Final = 50
"""Of how many draws one has a large shape."""

LENGTH: Final = 56
"""Nodes of a graph that are no leaves, at most."""

_DEVICES: Final = (1, 1, 2, 2, 3, 4)
LONG: Final = 10
"""Steps past which a graph is long."""

_LENGTHS: Final = choices.sampled_from([7, 4, 16, 3, 8, 6, 34, 5, 7, 14, 2, 9, 12, 30])
_VARIABLES: Final[tuple[tuple[str, ...], ...]] = ((), (), (), (), ("n",), ("n", "m"))
_TWO: Final = choices.booleans()
_SELDOM: Final = choices.sampled_from([False, False, False, False, False, True])
_SIDE: Final = choices.sampled_from([False, False, True])
_LARGE: Final = choices.integers(0, SHARE_OF_LARGE - 1)


@choices.composite
def _variable(draw: Draw, shape: tuple[int, ...]) -> Variable:
    """Draw what an extent of a shape may be narrowed to: never to nothing, of which a maximum is not legal."""
    high = draw(choices.sampled_from([extent for extent in shape if extent > 1]))
    low = draw(choices.integers(1, high))
    return Variable(low=low, high=high, value=draw(choices.integers(low, high)))


@choices.composite
def graphs(draw: Draw) -> Graph:
    """Draw a graph: buffers of one shape on 1 to 4 devices, a chain of steps, and several results.

    Some have one or two variables, as extents and as values.
    """
    large = draw(_LARGE) == SHARE_OF_LARGE - 1
    length = draw(choices.integers(3, 4)) if large else draw(_LENGTHS)
    shape = draw(choices.sampled_from(LARGE if large else DEEP if length > LONG else SHAPES))
    count = draw.one(_DEVICES)
    devices = tuple(f"d{number}" for number in range(1 if large else count))
    variables = draw.one(_VARIABLES)
    names = () if large or max(shape) < 2 or 0 in shape else variables
    swarm = draw(swarms())
    chain = GraphChain(draw, swarm, devices)
    chain.variables |= {name: draw(_variable(shape)) for name in names}
    for number, device in enumerate(devices):
        for name, dtype in (("a", swarm.dtype), ("b", swarm.other), ("c", swarm.dtype))[: 2 + (number == 0)]:
            made = chain.add("buf", shape, dtype, device=device, id=f"{name}{number}", arg=f"{name}{number}")
            chain.open.add(made.id)
    for other in [node for node in chain.nodes if node.id.startswith("a") and node.device != devices[0]]:
        # So that something of every device is asked for.
        chain.head = other
        beside(chain)
    chain.head = chain.nodes[0]
    for _ in range(length):
        word = draw.one(CLASSES)
        if draw(_SELDOM):
            chain.head = chain.pick()
        grow(chain, STEPS, (word,), plain="elementwise")
        if draw(_SIDE):
            beside(chain)
        if sum(node.op not in ("buf", "const", "var") for node in chain.nodes) >= LENGTH:
            break
    return _asked_for(draw, chain, length)


def _asked_for(draw: Draw, chain: GraphChain, length: int) -> Graph:
    """Draw what is asked for: the last node, and the more of the others the more steps there are."""
    made = [node for node in chain.nodes if node.op not in ("buf", "const", "var") and node.id not in chain.bare]
    made = made or chain.nodes
    last = chain.head if chain.head in made else made[-1]
    results = dict.fromkeys([last.id, *chain.sides])
    for _ in range(draw(choices.integers(0, 1 + length // 4))):
        results |= dict.fromkeys([made[draw(choices.integers(0, len(made) - 1))].id])
    if draw(_TWO):
        # On all devices: few engines reduce to some of them alone.
        results |= dict.fromkeys(node.id for node in chain.nodes if node.op in ("all_reduce", "collective"))
    return pruned(
        Graph(
            nodes=tuple(chain.nodes),
            results=tuple(results),
            functions=chain.functions,
            variables=chain.variables,
        )
    )
