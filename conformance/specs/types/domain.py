"""What typed programs are drawn from: meshes, inputs, and chains of steps of which some are ill-typed.

A program that is to be mapped over levels is well-typed, and its steps name levels as they name mesh axes.

A step takes values that are there. In most programs a step is drawn again until it is well-typed; those of the others
are kept as they come, so that every rule is met from both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from conformance.cases.program.program import Axis, Groups
from conformance.cases.types.axis_type import STATES, State
from conformance.cases.types.typed_program import GROUPED, TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.batching import over_mesh
from conformance.reference.types.casts import TABLE
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.specs.domains import choose
from conformance.specs.domains.choose import Draw
from conformance.specs.types.steps import FITTING, Shape, ragged

MESHES: Final = ((2,), (4,), (2, 2), (3,), (1, 2), (2, 1, 2), (2, 2, 2), (1,), (2, 3))
NAMES: Final = ("i", "j", "k")
LONGEST: Final = 6
TRIES: Final = 8
"""How often a step is drawn again until it is well-typed."""

LARGEST: Final = 512
"""Elements of a block, at most: a step that would make a larger one is left out."""

PAIRS: Final = ("add", "multiply", "subtract", "maximum")
MANY: Final = (
    *["cast"] * 7,
    "all_reduce",
    "axis_index",
    "ragged_all_to_all",
    "negate",
    "sum",
    *["add", "multiply"] * 2,
)
LINEAR: Final = (*["cast"] * 4, *["all_reduce"] * 4, *["all_gather"] * 5, *["ragged_all_to_all"] * 2)


class Grammar(NamedTuple):
    """What the steps of a program are drawn from, and its mesh.

    Some of the ``ops`` stand there more often: those with most rules. One program in ``unchecked`` has no types.
    Those of which ``as_it_comes`` is drawn true have steps that are refused too. Steps may name ``levels``.
    """

    ops: tuple[str, ...]
    meshes: tuple[tuple[int, ...], ...] = MESHES
    unchecked: int = 12
    as_it_comes: tuple[bool, ...] = (False, True, True)
    levels: tuple[Axis, ...] = ()


TYPING: Final = Grammar((*FITTING, *MANY, *PAIRS))
BACK: Final = Grammar(
    (*FITTING, *FITTING, *LINEAR, "add", "multiply", "negate", "subtract"),
    unchecked=4,
    as_it_comes=(*[False] * 9, True),
)
ACROSS: Final = Grammar(
    (*FITTING, *["permute", "all_reduce", "axis_index", "all_gather"], "ragged_all_to_all", "negate", "add"),
    # Every slice counts as a rank.
    meshes=((2,), (3,), (2, 2), (1, 2), (4,)),
)

AFTER_CAST: Final = (*PAIRS * 5, *["all_reduce"] * 6)
"""Operations after a cast, beside all others: more of those whose operands have to agree."""

Shapes = dict[str, Shape]


@choose.composite
def typed_programs(draw: Draw, grammar: Grammar = TYPING) -> TypedProgram:
    """Draw a program of up to ``LONGEST`` steps, each of which gives a result."""
    program = _start(draw, grammar)
    shapes = {name: given.shape for name, given in program.inputs.items()}
    as_it_comes = draw(choose.sampled_from(grammar.as_it_comes))
    for number in range(draw(choose.integers(1, LONGEST))):
        program = _longer(draw, program, grammar, shapes, f"v{number}", as_it_comes=as_it_comes)
    return program


@choose.composite
def mapped_programs(draw: Draw, levels: tuple[Axis, ...]) -> TypedProgram:
    """Draw a well-typed program of up to three steps, which may name ``levels``."""
    grammar = ACROSS._replace(levels=levels)
    program = _start(draw, grammar)
    shapes = {name: given.shape for name, given in program.inputs.items()}
    for number in range(draw(choose.integers(1, 3))):
        program = _longer(draw, program, grammar, shapes, f"v{number}", as_it_comes=False)
    return program


def _longer(
    draw: Draw, program: TypedProgram, grammar: Grammar, shapes: Shapes, output: str, *, as_it_comes: bool
) -> TypedProgram:
    """Return the program with a step more, whose shape is added to ``shapes``; or as it is, where none was found."""
    for _ in range(TRIES):
        found = _step(draw, program, grammar, shapes, output)
        if found is None:
            continue
        step, shape = found
        longer = replace(program, steps=(*program.steps, step), results=(*program.results, step.output))
        if as_it_comes or _well_typed(over_mesh(longer, [level.name for level in grammar.levels])):
            shapes[output] = shape
            return longer
    return program


def _start(draw: Draw, grammar: Grammar) -> TypedProgram:
    sizes = draw(choose.sampled_from(grammar.meshes))
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
        checked=draw(choose.sampled_from([True] * (grammar.unchecked - 1) + [False])),
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


def _step(
    draw: Draw, program: TypedProgram, grammar: Grammar, shapes: Shapes, output: str
) -> tuple[TypedStep, Shape] | None:
    last = list(shapes)[-1]
    name = draw(choose.sampled_from([last, last, last, *shapes]))
    after_cast = bool(program.steps) and program.steps[-1].op == "cast"
    levels, ops = grammar.levels, (*grammar.ops, *(AFTER_CAST if after_cast else ()))
    op, shape = draw(choose.sampled_from(ops)), shapes[name]
    if op in PAIRS:
        other = draw(choose.sampled_from([each for each in shapes if shapes[each] == shape]))
        return TypedStep(op=op, inputs=(name, other), output=output), shape
    if op == "negate":
        return TypedStep(op=op, inputs=(name,), output=output), shape
    if op == "sum":
        return (TypedStep(op=op, inputs=(name,), output=output, attrs={"axis": 0}), shape[1:]) if shape else None
    axes = _axes(draw, program, levels)
    if op == "axis_index":
        return TypedStep(op=op, inputs=(), output=output, axes=axes if levels else axes[:1]), ()
    if op == "cast":
        to = _to(draw, program, name, axes[0])
        return TypedStep(op=op, inputs=(name,), output=output, axes=axes, attrs={"to": to}), shape
    return _collective(draw, program, TypedStep(op=op, inputs=(name,), output=output, axes=axes), shapes, levels)


def _collective(
    draw: Draw, program: TypedProgram, step: TypedStep, shapes: Shapes, levels: tuple[Axis, ...]
) -> tuple[TypedStep, Shape] | None:
    shape, (name,) = shapes[step.inputs[0]], step.inputs
    every = (*program.mesh, *levels)
    if step.op in ("permute", "shuffle") and not levels:
        # What their positions are in another order is a clause of the programs of collectives.
        step = replace(step, axes=tuple(axis.name for axis in every if axis.name in step.axes))
    size = math.prod(axis.size for axis in every if axis.name in step.axes)
    if step.op in GROUPED and draw(choose.sampled_from([False] * 5 + [True])):
        step = replace(step, groups=_groups(draw, size, uneven=step.op == "all_reduce"))
        sizes = {len(group) for group in step.groups or ()}
        # Means are over powers of two, and no one number is the size of unequal groups.
        size = sizes.pop() if len(sizes) == 1 else 3
    if step.op == "ragged_all_to_all":
        other = draw(choose.sampled_from([each for each in shapes if shapes[each][1:] == shape[1:]] or [name]))
        step, fitting = replace(step, inputs=(name, other)), ragged(draw, shape, shapes[other], size)
    else:
        fitting = FITTING[step.op](draw, shape, size)
    if fitting is None or math.prod(fitting.shape) > LARGEST:
        return None
    named = {level.name for level in levels}
    if fitting.attrs.get("to", "varying") != "varying" and named & set(step.axes):
        return None
    attrs, shape = dict(fitting.attrs), fitting.shape
    if (
        step.op == "all_reduce"
        and shape
        and step.groups is None
        and attrs["op"] != "mean"
        and _positional(draw, program)
    ):
        attrs, shape = attrs | {"local_axes": (0,)}, shape[1:]
    return replace(step, attrs=attrs), shape


def _positional(draw: Draw, program: TypedProgram) -> bool:
    """Return whether a sum is over a local axis too; where types are checked that is refused, and so seldom drawn."""
    return draw(choose.sampled_from([True, False] if not program.checked else [True] + [False] * 24))


def _groups(draw: Draw, size: int, *, uneven: bool) -> Groups:
    """Draw a partition of positions in any order, into groups of one size or not."""
    order = draw(choose.permutations(range(size)))
    if uneven and size > 1 and draw(choose.booleans()):
        cut = draw(choose.integers(1, size - 1))
        return tuple(order[:cut]), tuple(order[cut:])
    each = draw(choose.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
    return tuple(tuple(order[at : at + each]) for at in range(0, size, each))


def _to(draw: Draw, program: TypedProgram, name: str, axis: str) -> State:
    """Draw what a value is cast to along ``axis``, mostly something that the table has."""
    try:
        state = check(program)[name].state(axis)
    except IllTyped:
        state = "invariant"
    return draw(choose.sampled_from([to for known, to in sorted(TABLE) if known == state] * 3 + list(STATES[1:])))


def _axes(draw: Draw, program: TypedProgram, levels: tuple[Axis, ...]) -> tuple[str, ...]:
    """Draw one or several axes in any order, now and then one that is not mapped."""
    every = tuple(axis.name for axis in program.mesh)
    known = (*program.names, *(level.name for level in levels))
    order = draw(choose.permutations(draw(choose.sampled_from([known] * 12 + [(every if not levels else known)]))))
    return tuple(order[: draw(choose.sampled_from([1, 1, 1, 2, 2, 3]))])
