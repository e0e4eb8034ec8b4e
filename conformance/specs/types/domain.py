"""What typed programs are drawn from: meshes, inputs, and chains of steps of which some are ill-typed.

A step takes values that are there. In every third program a step is drawn again until it is well-typed; those of the
others are kept as they come, so that every rule is met from both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from conformance.cases.program.program import Axis
from conformance.cases.types.axis_type import STATES, State
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.types.casts import TABLE
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.specs.domains import choose
from conformance.specs.domains.choose import Draw
from conformance.specs.types.steps import FITTING, Shape

MESHES: Final = ((2,), (4,), (2, 2), (3,), (1, 2), (2, 1, 2), (2, 2, 2), (1,), (2, 3))
NAMES: Final = ("i", "j", "k")
LONGEST: Final = 6
TRIES: Final = 8
"""How often a step is drawn again until it is well-typed."""

LARGEST: Final = 512
"""Elements of a block, at most: a step that would make a larger one is left out."""

PAIRS: Final = ("add", "multiply", "subtract", "maximum")
OPS: Final = (*FITTING, *["cast"] * 7, "all_reduce", "axis_index", "negate", "sum", *PAIRS, *["add", "multiply"] * 2)
"""Operations, some of them more often: those with most rules."""

AFTER_CAST: Final = (*OPS, *PAIRS * 4, *["all_reduce"] * 6)
"""Operations after a cast: more of those whose operands have to agree."""

Shapes = dict[str, Shape]


@choose.composite
def typed_programs(draw: Draw) -> TypedProgram:
    """Draw a program of up to ``LONGEST`` steps, each of which gives a result."""
    program = _start(draw)
    shapes = {name: given.shape for name, given in program.inputs.items()}
    as_it_comes = draw(choose.sampled_from([False, True, True]))
    for number in range(draw(choose.integers(1, LONGEST))):
        for _ in range(TRIES):
            found = _step(draw, program, shapes, f"v{number}")
            if found is None:
                continue
            step, shape = found
            longer = replace(program, steps=(*program.steps, step), results=(*program.results, step.output))
            if as_it_comes or _well_typed(longer):
                program, shapes = longer, shapes | {step.output: shape}
                break
    return program


def _start(draw: Draw) -> TypedProgram:
    sizes = draw(choose.sampled_from(MESHES))
    mesh = tuple(Axis(name=name, size=size) for name, size in zip(NAMES, sizes, strict=False))
    names = tuple(axis.name for axis in mesh)
    some: list[tuple[str, ...] | None] = [names[:1], names[1:] or None]
    mapped = draw(choose.sampled_from([None] * 6 + some))
    known = names if mapped is None else mapped
    inputs = {name: _input(draw, mesh, known) for name in ("a", "b")[: draw(choose.integers(1, 2))]}
    return TypedProgram(
        mesh=mesh,
        inputs=inputs,
        steps=(),
        results=(),
        mapped=mapped,
        checked=draw(choose.sampled_from([True] * 11 + [False])),
        automatic=draw(choose.sampled_from([True] * 5 + [False])),
    )


def _input(draw: Draw, mesh: Sequence[Axis], known: Sequence[str]) -> TypedInput:
    world = math.prod(axis.size for axis in mesh)
    shape = draw(choose.sampled_from([(world,), (world, 2), (), (world,)]))
    varying = tuple(axis for axis in sorted(known) if draw(choose.booleans()))
    return TypedInput(dtype="int32", shape=shape, varying=varying)


def _well_typed(program: TypedProgram) -> bool:
    try:
        check(program)
    except IllTyped:
        return False
    return True


def _step(draw: Draw, program: TypedProgram, shapes: Shapes, output: str) -> tuple[TypedStep, Shape] | None:
    last = list(shapes)[-1]
    name = draw(choose.sampled_from([last, last, last, *shapes]))
    after_cast = bool(program.steps) and program.steps[-1].op == "cast"
    op, shape = draw(choose.sampled_from(AFTER_CAST if after_cast else OPS)), shapes[name]
    if op in PAIRS:
        other = draw(choose.sampled_from([each for each in shapes if shapes[each] == shape]))
        return TypedStep(op=op, inputs=(name, other), output=output), shape
    if op == "negate":
        return TypedStep(op=op, inputs=(name,), output=output), shape
    if op == "sum":
        return (TypedStep(op=op, inputs=(name,), output=output, attrs={"axis": 0}), shape[1:]) if shape else None
    return _collective(draw, program, op, name, shape, output)


def _collective(
    draw: Draw, program: TypedProgram, op: str, name: str, shape: Shape, output: str
) -> tuple[TypedStep, Shape] | None:
    axes = _axes(draw, program)
    if op == "axis_index":
        return TypedStep(op=op, inputs=(), output=output, axes=axes[:1]), ()
    if op in ("permute", "shuffle"):
        # What their positions are in another order is a clause of the programs of collectives.
        axes = tuple(axis.name for axis in program.mesh if axis.name in axes)
    size = math.prod(axis.size for axis in program.mesh if axis.name in axes)
    if op == "cast":
        to = _to(draw, program, name, axes[0])
        return TypedStep(op=op, inputs=(name,), output=output, axes=axes, attrs={"to": to}), shape
    fitting = FITTING[op](draw, shape, size)
    if fitting is None or math.prod(fitting.shape) > LARGEST:
        return None
    return TypedStep(op=op, inputs=(name,), output=output, axes=axes, attrs=dict(fitting.attrs)), fitting.shape


def _to(draw: Draw, program: TypedProgram, name: str, axis: str) -> State:
    """Draw what a value is cast to along ``axis``, mostly something that the table has."""
    try:
        state = check(program)[name].state(axis)
    except IllTyped:
        state = "invariant"
    return draw(choose.sampled_from([to for known, to in sorted(TABLE) if known == state] * 3 + list(STATES[1:])))


def _axes(draw: Draw, program: TypedProgram) -> tuple[str, ...]:
    """Draw one or several axes in any order, now and then one that is not mapped."""
    every = tuple(axis.name for axis in program.mesh)
    order = draw(choose.permutations(draw(choose.sampled_from([program.names] * 12 + [every]))))
    return tuple(order[: draw(choose.sampled_from([1, 1, 1, 2, 2, 3]))])
