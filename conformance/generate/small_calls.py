"""All small calls of a collective on int32 blocks, of which one is drawn: legal and illegal, in every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, pairwise, permutations, product
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate.choices import Choice, Draw
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import ATTRIBUTES, DEFAULTS, evaluate

WORLDS: Final = (1, 2, 3)
SHAPES: Final = ((), (0,), (1,), (2,), (2, 2))
FORMS: Final = ("plain", "in place", "started", "started in place")

DRAWN_SMALL: Final = tuple(op for op in OPERATIONS if op in ("send", "recv", "barrier") or TABLE[op].operands > 1)
"""Operations of which the small calls are drawn: the others are called with everything there is."""


def small_call(op: str) -> Choice[Case]:
    """Return the choice of a small call of an operation: in groups of at most 3 ranks, on blocks of at most 2 x 2.

    Raises ``ValueError`` for ``DRAWN_SMALL``.
    """
    if op in DRAWN_SMALL:
        raise ValueError(f"the small calls of {op} are not enumerated")

    def make(draw: Draw) -> Case:
        while True:
            world = draw.one(WORLDS[::-1])
            groups = draw.one(_groups_of(world))
            shape = draw.one(SHAPES[::-1]) if TABLE[op].operands else ()
            blocks = [counted(shape, rank) for rank in range(world)]
            attrs: dict[str, Attr] = {}
            for name in ATTRIBUTES[op]:
                value = draw.one(_listed(op, name, world, len(shape)))
                attrs |= {name: value} if value is not None else {}
            case = call_case(op, blocks if TABLE[op].operands else None, groups, attrs, world)
            legal = is_legal(case)
            if legal is not None:
                return in_form(case, draw.one(FORMS)) if legal else case

    return Choice(make)


@cache
def _groups_of(world: int) -> tuple[Groups | None, ...]:
    return tuple(groups_of_world(world))


@cache
def _listed(op: str, name: str, world: int, rank: int) -> tuple[Attr, ...]:
    return tuple(values_of(op, name, world, rank))


def counted(shape: tuple[int, ...], rank: int) -> Array:
    """Return a block that counts, of which no two ranks have the same."""
    size = int(np.prod(shape, dtype=np.int64))
    return (np.arange(size, dtype=np.int32) + 1 + 10 * rank).reshape(shape)


def groups_of_world(world: int) -> Iterator[Groups | None]:
    """Yield no groups, the ways to part the ranks with members in order and in the other order, and wrong groups."""
    yield None
    for order in permutations(range(world)):
        for cuts in range(world):
            for at in combinations(range(1, world), cuts):
                bounds = (0, *at, world)
                groups = tuple(order[one:other] for one, other in pairwise(bounds))
                # Of groups in another order nothing depends; of members in another order, each order once.
                if list(groups) == sorted(groups) and all(list(g) in (sorted(g), sorted(g)[::-1]) for g in groups):
                    yield groups
    yield ((*range(world), 0),)
    yield ((),)


def values_of(op: str, name: str, world: int, rank: int) -> list[Attr]:  # noqa: PLR0911 - one a type
    """Return what an attribute may be: all that is legal among so many ranks, and what is beside it."""
    hint = ATTRIBUTES[op][name]
    optional: list[Attr] = [None] if name in DEFAULTS[op] else []
    if name == "op":
        return ["sum", "max", "nothing"]
    if hint is bool:
        return [False, True]
    if hint is int:
        return [*range(-rank - 1, rank + 1)] if "axis" in name or "dimension" in name else [*range(-1, world + 1)]
    if hint is float:
        return [*optional, 0.5][:1]
    if name == "local_axes":
        return [None, *(((at,)) for at in range(-rank - 1, rank + 1)), *([(0, 1)] if rank > 1 else [])]
    if "pairs" in name:
        return [(), *(tuple(zip(one, two, strict=True)) for count in range(1, world + 1)
                      for one in permutations(range(world), count) if list(one) == sorted(one)
                      for two in permutations(range(world), count))]  # fmt: skip
    if "tuple" in str(hint):
        return [
            tuple(each)
            for count in range(world + 1)
            for each in product(range(-1 if count == 1 else 0, world), repeat=count)
        ]
    return optional or [1.0]


def is_legal(case: Case) -> bool | None:
    """Return whether a case is legal, ``None`` where it is malformed."""
    try:
        evaluate(case)
    except Rejected:
        return False
    except ValueError:
        return None
    return True


def call_case(
    op: str, blocks: list[Array] | None, groups: Groups | None, attrs: Mapping[str, Attr], world: int
) -> Case:
    """Return the case of one call of an operation on blocks, or on none."""
    layout: Layout = "contiguous"
    inputs = {}
    if blocks is not None:
        inputs["x"] = Operand(blocks=tuple(map(from_array, blocks)), layouts=(layout,) * world)
    step = Step(op=op, inputs=tuple(inputs), outputs=("y",), axes=("i",), groups=groups, attrs=dict(attrs))
    return Case(program=Program(mesh=(Axis("i", world),), steps=(step,), results=("y",)), inputs=inputs)


def in_form(case: Case, form: str) -> Case:
    """Return the same call in another form: in place in a buffer, started and waited for, or both."""
    (step,) = case.program.steps
    steps: list[Step] = []
    if "in place" in form and step.inputs:
        steps.append(Step(op="buffer", inputs=step.inputs, outputs=("b",), axes=()))
        step = replace(step, inputs=("b",), into=("b",))
    if "started" in form:
        steps += [replace(step, outputs=("t",), start=True), Step(op="done", inputs=("t",), outputs=("y",), axes=())]
    else:
        steps.append(step)
    return replace(case, program=replace(case.program, steps=tuple(steps)))
