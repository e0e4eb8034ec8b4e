"""Chains of steps whose classes are dealt, so that one value has gone through most kinds of steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED
from conformance.cases.tensor.dtypes import kind
from conformance.reference.sharded.placing import shape_of
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.graphs.domain import chains, movement_steps, steps
from conformance.specs.graphs.domain.unfinished_case import ROOM, Asked
from conformance.specs.schedules.domain.graph_words import taking
from conformance.specs.sharded.domain.programs import Program, along, begun, ended, known, move, other

WHOLE: Final = 6
"""Steps in a row on what is whole, at most: they say nothing about parts, but to split it is a step as well."""

_PART: Final = choices.sampled_from([0, 1])


def kept(program: Program) -> bool:
    """Go on with the head, made contiguous."""
    asked = program.asked
    return asked.on(asked.add("contig", asked.head.shape, asked.head.dtype, asked.head))


def permuted(program: Program) -> bool:
    """Go on with the axes of the head the other way round, where it has several."""
    asked = program.asked
    order = tuple(range(len(asked.head.shape)))[::-1]
    shape = asked.head.shape[::-1]
    return len(order) > 1 and asked.on(asked.moved("permute", shape, asked.head, order))


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


def padded(program: Program) -> bool:
    """Go on with zeros around the head, around nothing where there is no room."""
    asked, at = program.asked, program.asked.head
    return movement_steps.pad(asked) or asked.on(asked.moved("pad", at.shape, at, ((0, 0),) * len(at.shape)))


def expanded(program: Program) -> bool:
    """Go on with the head twice along its axes of one element, if it has any."""
    asked, at = program.asked, program.asked.head
    shape = tuple(2 if extent == 1 else extent for extent in at.shape)
    fits = 1 in at.shape and asked.count(shape) <= 2 * ROOM
    return fits and asked.on(asked.moved("expand", shape, at))


def across(program: Program) -> bool:
    """Go on with a fold of an axis that is not split."""
    asked = program.asked
    at = asked.head
    cut = {split.axis for split in program.at(at).splits}
    axes = [axis for axis in range(len(at.shape)) if axis not in cut]
    if not axes:
        return False
    axis = asked.draw(choices.sampled_from(axes))
    fold = asked.draw(choices.sampled_from(taking(at.dtype, ("add", "max", "or"))))
    left = (*at.shape[:axis], *at.shape[axis + 1 :])
    return asked.on(asked.add("reduce", left, at.dtype, at, arg=(axis,), fold=fold))


def late(program: Program) -> bool:
    """Go on with a fold of an axis that is split, which is to stay pending where it may."""
    return along(program, moving=False)


def viewed(program: Program) -> bool:
    """Assign the head to all but the first row of new storage."""
    return stored(program, 1)


def stored(program: Program, view: int = 0) -> bool:
    """Assign the head to new storage placed like it or otherwise, all of it or a view of it, and again."""
    asked = program.asked
    at = asked.head
    shape = shape_of(at)
    if not shape or 0 in shape:
        return False
    # Where the head is says nothing of storage that has a row more.
    near = REPLICATED if view else program.at(at)
    target = whole = program.buffer((shape[0] + view, *shape[1:]), at.dtype, near)
    if view:
        target = asked.moved("shrink", shape, whole, ((1, shape[0] + 1), *((0, extent) for extent in shape[1:])))
    for value in (at, asked.fitted(at), at)[:: -1 if asked.draw(_PART) else 2]:
        made = asked.add("assign", target.shape, target.dtype, target, value)
        asked.written.append(str(whole.arg))
    return asked.on(made)


def _of_graphs(step: Callable[[Asked], bool]) -> Callable[[Program], bool]:
    return lambda program: step(program.asked)


STEPS: Final[Mapping[str, tuple[Callable[[Program], bool], ...]]] = {
    "elementwise": (_of_graphs(steps.elementwise), other, counted),
    "convert": (_of_graphs(steps.convert), _of_graphs(chains.compared)),
    "reduce": (across, late),
    "reshape": (_of_graphs(chains.deepened),),
    "turn": (permuted, _of_graphs(chains.turned)),
    "window": (_of_graphs(movement_steps.strided), _of_graphs(chains.part), _of_graphs(steps.gather)),
    "widen": (padded, expanded),
    "keep": (kept, detached),
    "cross": (move,),
    "assign": (viewed, viewed, stored),
}
"""The steps of each class, which come in turn."""


@choices.composite
def mingled(draw: Draw, classes: tuple[str, ...]) -> ShardedCase:
    """Draw a chain with a step of each class, each from what the last one made."""
    program = draw(begun(deep=True))
    whole = 0
    decks = {word: deque(draw(choices.permutations(STEPS[word]))) for word in dict.fromkeys(classes)}
    for word in classes:
        whole = 0 if word == "cross" or program.at(program.asked.head).splits else whole + 1
        if whole > WHOLE:
            move(program)
            whole = 0
        if not any(step(program) for step in [*decks[word]]):
            chains.deepened(program.asked)
        decks[word].rotate(-1)
    ended(program)
    return known(program)
