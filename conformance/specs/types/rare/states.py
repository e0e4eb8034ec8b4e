"""Programs about types alone: values of many pairs of states, all legal steps of them, and perhaps one that is not.

Values are made of all states along each of two axes; then steps of any of them are listed in a drawn order. Those that
a rule refuses are left out but for one, the last, where the program is to be refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from msgspec.structs import replace

from conformance.cases.types.axis_type import STATES, State
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.types.grammar import PAIRS
from conformance.specs.types.rare.listing import Listing
from conformance.specs.types.steps import ragged

MOST: Final = 8
"""Legal steps in a program."""

VALUES: Final = 4
"""Values of drawn states in a program."""


UNCAST: Final = (*PAIRS, "all_reduce")
"""Operations of surely refused steps that are refused where no cast is automatic."""


def states_program(draw: Draw, turn: int) -> TypedProgram:
    """Return the program of a turn: every second one ends in a step that is refused, and one of five has no types."""
    e = Listing(draw, checked=turn % 5 != 3)
    axes = e.names[-2:]
    every = list(product(STATES, repeat=len(axes)))
    values = [_value(e, axes, draw(choices.sampled_from(every))) for _ in range(VALUES)]
    sure = _surely_refused(e, turn % 16) if e.checked else None
    automatic = draw(choices.sampled_from([True, True, False])) and (sure is None or sure.op not in UNCAST)
    steps = draw(choices.permutations(_steps(e, values)))
    if turn % 4 == 0:
        # A negative is one step of many, and a rule is about that of a pending sum; JAX has no word for it.
        pending = {step.output for step in e.steps if step.attrs["to"] == "unreduced"}
        steps.sort(key=lambda step: step.op != "negate" or step.inputs[0] not in pending)
    refused: dict[str, TypedStep] = {}
    for step in steps:
        rule = _rule(e, step, automatic=automatic)
        if rule is not None:
            refused.setdefault(rule, step)
        elif len(e.results) < MOST:
            e.keep(e.add(step))
    if turn % 4 == 2 and automatic:
        e.keep(*_rows_of_others(e))
    if sure is not None:
        e.keep(e.add(sure))
    elif turn % 2 and refused:
        # Each rule as often as the next, whatever the number of steps that it refuses.
        step = refused[draw(choices.sampled_from(sorted(refused)))]
        e.keep(e.add(step))
    return e.program(automatic=automatic)


def _surely_refused(e: Listing, turn: int) -> TypedStep | None:
    """Return a step that one rule alone refuses, which few of the others show; nothing for most turns."""
    axes = e.names[:1]
    if turn == 1:  # where no cast is automatic
        return _step("add", (e.given((2, 2), axes), e.given((2, 2), ())))
    if turn in (9, 15) and len(e.names) > 1:  # here too; a mesh of several axes has two or four along the first
        return _step("all_reduce", (e.given((2, 2), e.names),), axes, op="mean")
    if turn == 5:
        return _step("all_gather", (e.given((2, 2), ()),), axes, axis=0, tiled=True, to="reduced")
    if turn == 7:
        return _step("broadcast", (e.given((2, 2), ()),), axes, root=0)
    if turn == 11:
        pending = e.do("cast", e.given((2, 2), axes), axes=axes, to="unreduced")
        return _step("maximum", (pending, pending))
    return None


def _rows_of_others(e: Listing) -> Iterator[str]:
    """Yield ragged exchanges along one axis of operands that vary along unlike axes: each has rows of both."""
    axes = tuple(e.draw(choices.permutations(e.names))[:1])
    operands = (e.given((2, 2)), e.given((2, 2), axes))
    for of in (operands, operands[::-1]):
        found = ragged(e.draw, (2, 2), (2, 2), e.size(axes))
        yield e.add(_step("ragged_all_to_all", of, axes, **(found.attrs if found else {})))


def _value(e: Listing, axes: tuple[str, ...], states: tuple[State, ...]) -> str:
    """Return a value that has these states along the axes: an input, cast where it is unreduced or reduced."""
    varying = [axis for axis, state in zip(axes, states, strict=True) if state in ("varying", "unreduced")]
    name = e.given((2, 2), varying)
    for axis, state in zip(axes, states if e.checked else (), strict=e.checked):
        if state in ("unreduced", "reduced"):
            name = e.do("cast", name, axes=(axis,), to=state)
    return name


def _steps(e: Listing, values: list[str]) -> list[TypedStep]:
    """Return steps of the values: local ones of each two, and collectives and casts along one axis or both."""
    found = [_step(op, two) for op in PAIRS for two in product(values, repeat=2)]
    found += [_step("negate", (name,)) for name in values]
    for name, axes in product(values, (*((axis,) for axis in e.names), e.names[-2:], e.names[::-1][:2])):
        if len(set(axes)) < len(axes):
            continue
        found += [_step("cast", (name,), axes, to=to) for to in STATES]
        found += [_step("all_reduce", (name,), axes, op=op) for op in ("sum", "max")]
        found += [_step("all_gather", (name,), axes, axis=0, tiled=True, to=to) for to in STATES if to != "unreduced"]
        found.append(_step("broadcast", (name,), axes, root=0))
        # What positions are in another order of mesh axes is a clause of the programs of collectives.
        found += [_step("permute", (name,), axes, pairs=((0, 1),))] if axes == e.meshwise(axes) else []
        if e.size(axes) == 2:
            found.append(_step("reduce_scatter", (name,), axes, op="sum", axis=0, tiled=True))
            found.append(_step("all_reduce", (name,), axes, op="mean"))
    return found


def _step(op: str, inputs: tuple[str, ...], axes: tuple[str, ...] = (), /, **attrs: object) -> TypedStep:
    return TypedStep(op=op, inputs=inputs, output="", axes=axes, attrs=attrs)  # type: ignore[arg-type]  # plain words


def _rule(e: Listing, step: TypedStep, *, automatic: bool) -> str | None:
    """Return the rule that refuses the step at the end of the program."""
    whole = e.program(automatic=automatic)
    try:
        check(replace(whole, steps=(*whole.steps, step)))
    except IllTyped as error:
        return error.clause
    return None
