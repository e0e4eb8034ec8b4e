"""Graph cases that grow as chains of classes that are dealt: each step is one node that goes on from the head."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node, Variable
from conformance.cases.graph.situations import dtype_word
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.graphs.domain import movement_steps, steps
from conformance.specs.graphs.domain.graphs import begin, end, words
from conformance.specs.graphs.domain.meetings import meet
from conformance.specs.graphs.domain.unfinished_case import Asked, Words, chance
from conformance.specs.schedules.domain.graph_words import DTYPES, granted, taking

SHAPES: Final = ((2, 3), (4,), (2, 2), (3, 2, 2), (2, 1, 3), (1, 4), (8,), (2, 3, 2), (4, 3), (12,), (), (5,))

DEEP: Final = ((2, 3, 4), (4, 3, 2), (2, 2, 2, 3), (3, 2, 2, 2), (2, 2, 2, 2))
"""Shapes of what is folded several times."""

DEVICES: Final = (1, 2, 3)
VARIABLES: Final[tuple[tuple[str, ...], ...]] = ((), ("n",))
_ROUNDS: Final = choices.sampled_from([1, 2, 1, 3])
_BESIDE: Final = choices.sampled_from([False, False, True])


def compared(asked: Asked) -> bool:
    """Go on with a comparison of the head, or a choice by it where it is one."""
    at = asked.head
    if at.dtype == "bool" and chance(asked.draw, 2):
        like = Node(id="", op="buf", shape=at.shape, dtype=asked.words.dtypes[0], device=at.device)
        made = asked.add("alu", at.shape, like.dtype, at, asked.fitted(like), asked.fitted(like), arg="where")
        return asked.on(made)
    word = asked.draw(choices.sampled_from(taking(at.dtype, ("lt", "ne", "eq"))))
    return asked.on(asked.add("alu", at.shape, "bool", at, asked.fitted(at), arg=word))


def deepened(asked: Asked) -> bool:
    """Go on with another shape of the same elements, with more axes where there are few, so that folds may follow."""
    at = asked.head
    if len(at.shape) > 1:
        return movement_steps.reshape(asked)
    shape = asked.draw(choices.sampled_from([(1, *at.shape, 1), (1, 1, *at.shape), (1, *at.shape, 1, 1)]))
    return asked.on(asked.moved("reshape", shape, at))


def turned(asked: Asked) -> bool:
    """Go on with axes in another order or turned round; what has none has them in their order."""
    return movement_steps.turn(asked) or asked.on(asked.moved("permute", (), asked.head, ()))


def part(asked: Asked) -> bool:
    """Go on with a part of the head, all of it where it has no axes."""
    return movement_steps.window(asked) or asked.on(asked.moved("shrink", (), asked.head, ()))


def widened(asked: Asked) -> bool:
    """Go on with the head several times, or with zeros around it; around nothing where there is no room."""
    at = asked.head
    if 1 in at.shape and chance(asked.draw, 2):
        shape = tuple(2 if extent == 1 else extent for extent in at.shape)
        if asked.room(shape):
            return asked.on(asked.moved("expand", shape, at))
    return movement_steps.pad(asked) or asked.on(asked.moved("pad", at.shape, at, ((0, 0),) * len(at.shape)))


def stored(asked: Asked) -> bool:
    """Assign the head to storage of its shape that is there, or to all or a part of a new buffer."""
    draw, at = asked.draw, asked.head
    found = [node for node in asked.usable() if node.id in asked.open and node.id != at.id and _alike(node, at)]
    if found and chance(draw, 2):
        target = draw(choices.sampled_from(found[:6]))
    else:
        wide = 0 if any(isinstance(extent, str) for extent in at.shape) else draw(choices.integers(0, 1))
        whole = asked.buffer(tuple(extent + wide for extent in sizes(at.shape, asked.most)), at.dtype, at.device)
        ends = tuple((wide, wide + extent) if isinstance(extent, int) else (0, extent) for extent in at.shape)
        target = whole if whole.shape == at.shape else asked.moved("shrink", at.shape, whole, ends)
    made = asked.add("assign", target.shape, target.dtype, target, at)
    asked.open.add(made.id)
    asked.written.append(movement_steps.home(asked, made))
    return asked.on(made)


def _alike(one: Node, other: Node) -> bool:
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)


STEPS: Final[Mapping[str, tuple[Callable[[Asked], bool], ...]]] = {
    "elementwise": (steps.elementwise,),
    "convert": (steps.convert, compared),
    "reduce": (steps.reduce,),
    "reshape": (deepened,),
    "turn": (turned,),
    "window": (part, part, steps.gather),
    "widen": (widened,),
    "keep": (steps.keep, steps.keep, steps.called),
    "cross": (meet, steps.cross),
    "assign": (stored,),
}
"""The steps of each class, of which each makes one node of the head."""


@choices.composite
def chains(draw: Draw, classes: tuple[str, ...]) -> GraphCase:
    """Draw a case with a step of each class, now and then with another step beside it, in one round or several."""
    asked = _begun(draw, draw(words()), deep=classes.count("reduce") > 1)
    count = draw(_ROUNDS) if len(classes) > 8 else 1
    ends = {len(classes) * at // count for at in range(1, count)}
    for number, word in enumerate(classes):
        if number in ends:
            end(asked)
            begin(asked)
        if not any(step(asked) for step in draw(choices.permutations(STEPS[word]))):
            deepened(asked)
        if draw(_BESIDE):
            _beside(asked)
    end(asked)
    return asked.case()


def _begun(draw: Draw, using: Words, *, deep: bool) -> Asked:
    """Return a case with two or three buffers, on as many devices and with the variables that are goals."""
    dtype = granted(draw, DTYPES, "dtype", dtype_word)
    asked = Asked(draw, replace(using, dtypes=tuple(dict.fromkeys((dtype, *using.dtypes)))))
    shape = draw(choices.sampled_from(DEEP if deep else SHAPES))
    count = granted(draw, DEVICES, "devices", lambda each: str(each) if each < 3 else "more")
    for number in range(max(count, draw(choices.integers(2, 3)))):
        # All are alike, so that devices have something to meet with.
        asked.buffer(shape, dtype if number < count else using.dtypes[-1], f"d{number % count}")
    asked.head = asked.nodes[0]
    extents = [extent for extent in shape if extent > 1]
    if granted(draw, VARIABLES, "symbolic", lambda each: "yes" if each else "no") and extents:
        high = draw(choices.sampled_from(extents))
        low = draw(choices.integers(1, high))
        asked.variables["n"] = Variable(low=low, high=high, value=draw(choices.integers(low, high)))
        asked.bound["n"] = asked.variables["n"].value
        movement_steps.narrow(asked)
    return asked


def _beside(asked: Asked) -> None:
    """Make something of the head that the chain does not go on from: later steps may use it."""
    at = asked.head
    steps.STEPS[asked.draw(choices.sampled_from(asked.words.steps))](asked)
    asked.head = at
