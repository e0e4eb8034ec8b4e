"""Chains of most kinds of steps, in any order, so that one value has gone through all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import kind
from conformance.reference.sharded.placing import shape_of
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.graphs.domain import steps
from conformance.specs.graphs.domain.unfinished_case import Asked
from conformance.specs.schedules.domain.graph_words import taking
from conformance.specs.sharded.domain.programs import Program, along, begun, ended, known, move, other

_PART: Final = choices.sampled_from([0, 1])
_LENGTH: Final = choices.sampled_from([12, 9, 14, 16])


def detached(program: Program) -> bool:
    """Go on with the head, detached."""
    asked = program.asked
    return asked.on(asked.moved("detach", asked.head.shape, asked.head))


def counted(program: Program) -> bool:
    """Go on with the head and the numbers of its places along an axis."""
    asked = program.asked
    at = asked.head
    if not at.shape or kind(at.dtype) not in ("integer", "float"):
        return False
    axis = asked.draw(choices.integers(0, len(at.shape) - 1))
    line = asked.add("iota", at.shape, at.dtype, device=at.device, arg=axis)
    word = asked.draw(choices.sampled_from(taking(at.dtype, ("add", "max"))))
    return asked.on(asked.add("alu", at.shape, at.dtype, at, line, arg=word))


def stored(program: Program) -> bool:
    """Assign the head to new storage placed like it or otherwise, all of it or all but its first row, and again."""
    asked = program.asked
    at = asked.head
    shape = shape_of(at)
    if not shape or 0 in shape:
        return False
    view = asked.draw(_PART)
    target = whole = program.buffer((shape[0] + view, *shape[1:]), at.dtype, program.at(at))
    if view:
        target = asked.moved("shrink", shape, whole, ((1, shape[0] + 1), *((0, extent) for extent in shape[1:])))
    for value in (at, asked.fitted(at), at)[:: -1 if asked.draw(_PART) else 2]:
        made = asked.add("assign", target.shape, target.dtype, target, value)
        asked.written.append(str(whole.arg))
    return asked.on(made)


def _graph(word: str) -> Callable[[Program], bool]:
    def go_on(program: Program) -> bool:
        asked: Asked = program.asked
        return steps.STEPS[word](asked)

    return go_on


DECK: Final = (
    *map(_graph, ("convert", "gather", "turn", "window", "pad", "expand", "keep", "reduce", "elementwise", "reshape")),
    *(_graph("turn"), _graph("window"), detached, detached, counted, stored, stored, move, along, other),
)


@choices.composite
def mingled(draw: Draw) -> ShardedCase:
    """Draw a chain of most of these steps, each from what the last one made."""
    program = draw(begun())
    for step in draw(choices.permutations(DECK))[: draw(_LENGTH)]:
        # A step on what is whole says nothing about parts.
        if not program.at(program.asked.head).splits:
            move(program)
        step(program)
    ended(program)
    return known(program)
