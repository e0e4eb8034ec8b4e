"""Which collectives are one call: those of one step, and small all_reduces that follow each other.

Nothing is packed. The operands of a call lie where they are and each is reduced by itself, but all of them begin
together, so that one command serves them (``schedule.batch``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Collective, Node, Opened, Output, Write, Written, needs


class Piece(NamedTuple):
    """A collective is one of ``pieces`` of a call, which has the number of the first of them."""

    call: int
    number: int
    pieces: int


def calls(collectives: Sequence[Collective], most: int) -> dict[Collective, Piece]:
    """Return which call each of ``collectives``, numbered in their order, is a piece of.

    Neighbours are one call if they are operands of one step, or all_reduces that differ in their operands alone, have
    at most ``most`` bytes a rank together and need neither each other nor storage that is written to.
    """
    numbers = {made: number for number, made in enumerate(collectives)}
    depths: dict[Node, float] = {}
    found: list[list[Collective]] = []
    for made in collectives:
        if found and _joins(made, found[-1], numbers, depths, most):
            found[-1].append(made)
        else:
            found.append([made])
    return {made: Piece(numbers[call[0]], number, len(call)) for call in found for number, made in enumerate(call)}


def _joins(
    made: Collective,
    call: Sequence[Collective],
    numbers: Mapping[Collective, int],
    depths: dict[Node, float],
    most: int,
) -> bool:
    first = call[0]
    if made.call or first.call:
        return (made.call, made.groups) == (first.call, first.groups)
    alike = all(
        (each.operation, each.groups, each.dtype, each.stage, each.attrs)
        == ("all_reduce", made.groups, made.dtype, made.stage, made.attrs)
        for each in (first, made)
    )
    if not alike or sum(map(_bytes, (*call, made))) > most:
        return False
    # What the first needs is settled when the first who joins asks.
    pieces = (first, made) if len(call) == 1 else (made,)
    return all(_depth(block.node, numbers, depths) < numbers[first] for each in pieces for block in each.blocks)


def _bytes(made: Collective) -> int:
    return max(block.view.size * FORMATS[block.node.dtype].itemsize for block in made.blocks)


def _depth(node: Node, numbers: Mapping[Collective, int], known: dict[Node, float]) -> float:
    """Return the number of the last collective that a node needs, more than any where it lies in what is written to."""
    stack = [node]
    while stack:
        top = stack[-1]
        waiting = [] if top in known or isinstance(top, Output | Opened | Write | Written) else needs(top)
        waiting = [each for each in waiting if each not in known]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if isinstance(top, Output):
            known[top] = numbers[top.collective]
        elif isinstance(top, Opened | Write | Written):
            known[top] = math.inf
        elif top not in known:
            known[top] = max((known[each] for each in needs(top)), default=-1)
    return known[node]
