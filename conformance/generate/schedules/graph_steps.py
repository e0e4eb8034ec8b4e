"""The steps of the grammar of drawn graphs, one for each class: each goes on from a node, the head of the chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from conformance.generate.schedules.graph_nodes import GraphChain
from conformance.generate.schedules.movement_steps import reshape, turn, widen, window
from conformance.generate.schedules.storage_steps import assign, cross
from conformance.generate.schedules.value_steps import convert, elementwise, keep, reduce

STEPS: Final[Mapping[str, Callable[[GraphChain], bool]]] = {
    "elementwise": elementwise,
    "convert": convert,
    "reduce": reduce,
    "reshape": reshape,
    "turn": turn,
    "window": window,
    "widen": widen,
    "keep": keep,
    "cross": cross,
    "assign": assign,
}
"""The step of each class; it returns whether there was one to go on with."""


def beside(chain: GraphChain) -> None:
    """Make something of the head that is asked for, and that the chain does not go on from."""
    at = chain.head
    elementwise(chain)
    chain.sides.append(chain.head.id)
    chain.head = at
