"""Programs that end in a step that one rule refuses: every rule in turn, and of a rule every operation that it refuses.

The values before are in many states along two axes, and some of them are only started, so that such a step is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any, Final

from msgspec.structs import replace

from conformance.cases.types.axis_type import STATES, State
from conformance.cases.types.typed_program import TypedProgram
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.types.domain import refused_for_one_reason, with_step
from conformance.specs.types.drawn_steps import Shapes, drawn_step
from conformance.specs.types.grammar import NEVER, TYPING, WAYS
from conformance.specs.types.rare.listing import Listing

MESHES: Final = ((2, 2), (2, 3), (2, 2, 2), (4, 2))

SHAPE: Final = (24, 2)
"""A shape that scatters and exchanges over any of these axes divide."""

VALUES: Final = 6
"""Values in drawn states."""

SURE: Final[dict[str, tuple[tuple[State, ...], ...]]] = {
    "types.C10": (("unreduced", "varying"), ("invariant", "varying"))
}
"""States that a rule needs, beside those that are drawn."""

STARTED: Final = 3
"""Values that are only started, for the rules about these."""

LEAST: Final = 5
"""How often a rule comes in a round, also one that refuses fewer operations."""

TRIES: Final = 240
"""How often a step is drawn until its rule refuses it. Of 2,000 programs 107 found none, at 80 tries 149."""

PICKY: Final = 40
"""Of so many tries reductions of other turns are left out."""

FOLDS: Final = (("max", "min"), ("sum", "mean"))
"""Reductions of the turns, which rules treat alike."""

STARTS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("all_reduce", {"op": "sum"}),
    ("reduce_scatter", {"op": "sum", "axis": 0, "tiled": True}),
    ("all_gather", {"axis": 0, "tiled": True, "to": "varying"}),
    ("all_to_all", {"split_axis": 0, "concat_axis": 1, "tiled": True}),
    ("broadcast", {"root": 0}),
    ("permute", {"pairs": ((0, 1),)}),
)
"""What is started, with attributes for ``SHAPE``."""


def refused_step_program(draw: Draw, turn: int) -> TypedProgram:
    """Return the program of a turn, which is legal where no such step was found."""
    rows = _rows()
    rule, op = rows[turn % len(rows)]
    about_starts = rule.startswith("starts.")
    e = Listing(draw, meshes=MESHES, checked=not about_starts or turn % 4 != 0)
    known = e.names
    if rule == "types.C1":  # every second one is mapped over nothing: it stands outside of any map
        known = e.names[:-1] if turn // len(rows) % 2 else ()
    shapes = _values(e, known[-2:], SURE.get(rule, ())) | (_started(e, known) if about_starts else {})
    program = replace(e.program(automatic=rule != "types.C2"), mapped=known if known != e.names else None)
    folds = FOLDS[turn % len(FOLDS)]
    for number in range(TRIES):
        order = draw(choices.permutations(list(shapes)))
        mixed = {name: shapes[name] for name in order}
        found = drawn_step(draw, program, TYPING._replace(ops=(op,), starts=NEVER), mixed, "last", wild=True)
        if found is None or len(found[0].groups or ((), ())) == 1:  # One group of all has one result.
            continue
        if number < PICKY and found[0].attrs.get("op", folds[0]) not in folds:
            continue
        if refused_for_one_reason(program, found[0], rule, turn):
            return with_step(program, found[0])
    return program


@cache
def _rows() -> list[tuple[str, str]]:
    """Return rules with an operation each that they refuse; neighbours are of unlike rules."""
    found, most = list[tuple[str, str]](), {rule: sorted(set(ops)) for rule, ops in WAYS.items()}
    for number in range(max(LEAST, *map(len, most.values()))):
        found += [(rule, ops[number % len(ops)]) for rule, ops in most.items() if number < max(len(ops), LEAST)]
    return found


def _values(e: Listing, axes: Sequence[str], sure: Sequence[tuple[State, ...]]) -> Shapes:
    """Add values in ``sure`` and in drawn states along ``axes``, results of the program, and return their shapes."""
    every = list(product(STATES, repeat=len(axes)))
    shapes = Shapes()
    for states in [*sure, *[e.draw(choices.sampled_from(every)) for _ in range(VALUES)]]:
        varying = [axis for axis, state in zip(axes, states, strict=True) if state in ("varying", "unreduced")]
        name = e.given(SHAPE, varying)
        for axis, state in zip(axes, states, strict=True):
            if e.checked and state in ("unreduced", "reduced"):
                name = e.do("cast", name, axes=(axis,), to=state)
        shapes[name] = SHAPE
        e.keep(name)
    return shapes


def _started(e: Listing, names: Sequence[str]) -> Shapes:
    """Add starts along an axis, some sums of an unreduced operand, and return the shapes of what they give."""
    shapes = Shapes()
    for op, attrs in e.draw(choices.permutations(STARTS))[:STARTED]:
        axes = (e.draw(choices.sampled_from(list(names))),)
        name = e.given(SHAPE)
        if e.checked and "op" in attrs and e.draw(choices.booleans()):
            name = e.do("cast", name, axes=axes, to="unreduced")
        size = e.size(axes)
        shape = {
            "reduce_scatter": (SHAPE[0] // size, SHAPE[1]),
            "all_gather": (SHAPE[0] * size, SHAPE[1]),
            "all_to_all": (SHAPE[0] // size, SHAPE[1] * size),
        }.get(op, SHAPE)
        shapes[e.do(op, name, axes=axes, start=True, **attrs)] = shape
    return shapes
