"""Programs that a rule barely refuses: with another state of one operand along one axis the last step is legal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, Final

from conformance.cases.types.axis_type import STATES, State, of
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.types.collectives import RULES
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.local import local, taken
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.types.grammar import PAIRS
from conformance.specs.types.rare.listing import Listing

States = tuple[State, ...]

MESHES: Final = ((2, 2), (2, 3), (2, 2, 2))
AXES: Final = ("i", "j")

ALONG_BOTH: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *(("cast", {"to": to}) for to in STATES),
    *(("all_reduce", {"op": op}) for op in ("sum", "max")),
    ("reduce_scatter", {"op": "sum", "axis": 0, "tiled": True}),
    *(("all_gather", {"axis": 0, "tiled": True, "to": to}) for to in ("varying", "invariant", "reduced")),
    ("permute", {"pairs": ((0, 1),)}),
    ("broadcast", {"root": 0}),
)
"""Steps along two axes, whose states may differ."""


def refused_program(draw: Draw, turn: int) -> TypedProgram:
    """Return the program of a turn: a local operation on two values, or a step along two axes of one."""
    e = Listing(draw, meshes=MESHES)
    if turn % 3 == 2:
        return _no_such_gather(e, turn // 3)
    if turn % 2 == 0:
        op, states = draw(choices.sampled_from(_pairs()))
        names = [_value(e, states[at : at + 2]) for at in (0, 2)]
        e.keep(e.do(op, *names))
        return e.program()
    number, states = draw(choices.sampled_from(_along_both()))
    op, attrs = ALONG_BOTH[number]
    axes = draw(choices.permutations(AXES))
    e.keep(e.add(TypedStep(op=op, inputs=(_value(e, states),), output="", axes=tuple(axes), attrs=attrs)))
    return e.program()


def _no_such_gather(e: Listing, turn: int) -> TypedProgram:
    """Return a gather to what no gather gives: the state of a sum that is to be made, a word, or a start to invariant.

    Along one axis or two, of a value that varies or not.
    """
    to = ("unreduced", "invariant", "gathered", "invariant", "sharded", "")[turn % 6]
    axes = AXES[: 1 + turn // 2 % 2]
    name = e.given((12, 2), e.draw(choices.sampled_from([(), ("i",), AXES])))
    attrs: dict[str, Any] = {"axis": 0, "tiled": True, "to": to}
    made = e.add(TypedStep(op="all_gather", inputs=(name,), output="", axes=axes, attrs=attrs, start=to == "invariant"))
    e.keep(e.do("done", made, of="all_gather") if to == "invariant" else made)
    return e.program()


def _value(e: Listing, states: States) -> str:
    """Return a value that has these states along the first two axes."""
    varying = [axis for axis, state in zip(AXES, states, strict=True) if state in ("varying", "unreduced")]
    name = e.given((12, 2), varying)
    for axis, state in zip(AXES, states, strict=True):
        if state in ("unreduced", "reduced"):
            name = e.do("cast", name, axes=(axis,), to=state)
    return name


@cache
def _pairs() -> list[tuple[str, States]]:
    """Return the local operations, with the states of their operands, that are barely refused."""
    found = []
    for op in PAIRS:
        legal = {each for each in product(STATES, repeat=4) if _local(op, each)}
        found += [(op, each) for each in product(STATES, repeat=4) if each not in legal and legal & _near(each)]
    return found


@cache
def _along_both() -> list[tuple[int, States]]:
    """Return the numbers of steps along two axes, with the states of their operand, that are barely refused."""
    found = []
    for number, (op, attrs) in enumerate(ALONG_BOTH):
        legal = {each for each in product(STATES, repeat=2) if _collective(op, attrs, each)}
        found += [(number, each) for each in product(STATES, repeat=2) if each not in legal and legal & _near(each)]
    return found


def _near(states: States) -> set[States]:
    return set(_others(states))


def _others(states: States) -> Iterator[States]:
    for at, state in product(range(len(states)), STATES):
        yield (*states[:at], state, *states[at + 1 :])


def _local(op: str, states: States) -> bool:
    operands = [of(dict(zip(AXES, states[at : at + 2], strict=True))) for at in (0, 2)]
    try:
        local(op, taken(op, operands, automatic=True))
    except IllTyped:
        return False
    return True


def _collective(op: str, attrs: dict[str, Any], states: States) -> bool:
    try:
        RULES[op](of(dict(zip(AXES, states, strict=True))), AXES, automatic=True, **attrs)
    except IllTyped:
        return False
    return True
