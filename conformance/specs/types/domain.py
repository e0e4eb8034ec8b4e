"""What typed programs are drawn from: meshes, inputs, and chains of steps of which some are ill-typed.

A program that is to be mapped over levels is well-typed, and its steps name levels as they name mesh axes.

A step takes values that are there, and is drawn again until it is well-typed. Some programs have one step more, drawn
again until a rule refuses it that was drawn before, so that every rule is met from both sides as often as the next.
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
LINEAR: Final = (*["cast"] * 4, *["all_reduce"] * 4, *["all_gather"] * 5, *["ragged_all_to_all", "all_to_all"] * 2)


class Grammar(NamedTuple):
    """What the steps of a program are drawn from, and its mesh.

    Some of the ``ops`` stand there more often: those with most rules. One program in ``unchecked`` has no types.
    One for which ``refused`` is drawn true ends in a step that a rule refuses. Steps may name ``levels``.
    """

    ops: tuple[str, ...]
    meshes: tuple[tuple[int, ...], ...] = MESHES
    unchecked: int = 12
    refused: tuple[bool, ...] = (False, False, True, False, True)
    levels: tuple[Axis, ...] = ()


TYPING: Final = Grammar((*FITTING, *MANY, *PAIRS))
BACK: Final = Grammar(
    (*FITTING, *FITTING, *LINEAR, "add", "multiply", "negate", "subtract", "sum"),
    unchecked=4,
    refused=(*[False] * 11, True),
)
ACROSS: Final = Grammar(
    (*FITTING, *["permute", "all_reduce", "axis_index", "all_gather"], "ragged_all_to_all", "negate", "add"),
    # Every slice counts as a rank.
    meshes=((2,), (3,), (2, 2), (1, 2), (4,)),
)

WAYS: Final = {
    "types.C1": (*FITTING, "cast", "axis_index"),
    "types.C2": (*FITTING, *PAIRS),
    "types.C3": ("cast",),
    "types.C4": ("cast", "all_reduce", "reduce_scatter"),
    "types.C5": (*FITTING, *PAIRS),
    "types.C6": ("all_gather",),
    "types.C7": ("all_reduce",),
    "types.C8": PAIRS,
    "types.C9": PAIRS,
    "types.C10": ("multiply",),
    "types.C15": ("all_reduce", "all_gather"),
    "types.C16": ("all_reduce",),
}
"""The rules that refuse, and operations that each may refuse."""

TRIES_OF_A_RULE: Final = 25
"""How often a step is drawn again until its rule refuses it: every rule is met once in some 30 programs then."""

AFTER_CAST: Final = (*PAIRS * 5, *["all_reduce"] * 6)
"""Operations after a cast, beside all others: more of those whose operands have to agree."""

Shapes = dict[str, Shape]


@choose.composite
def typed_programs(draw: Draw, grammar: Grammar = TYPING) -> TypedProgram:
    """Draw a program of up to ``LONGEST`` steps, each of which gives a result."""
    if draw(choose.sampled_from(grammar.refused)):
        return _ill_typed(draw, grammar)
    program = _start(draw, grammar)
    shapes = {name: given.shape for name, given in program.inputs.items()}
    for number in range(draw(choose.integers(1, LONGEST))):
        program = _longer(draw, program, grammar, shapes, f"v{number}")
    return program


def _ill_typed(draw: Draw, grammar: Grammar) -> TypedProgram:
    """Draw a program whose last step is refused, mostly over a mesh of several axes, of which most rules speak."""
    several = tuple(sizes for sizes in grammar.meshes if len(sizes) > 1)
    program = _start(draw, grammar._replace(meshes=(*several * 3, *grammar.meshes)))
    shapes = {name: given.shape for name, given in program.inputs.items()}
    rule = draw(choose.sampled_from(list(WAYS)))
    program = replace(program, checked=True, automatic=program.automatic and rule != "types.C2")
    if rule == "types.C1" and len(program.mesh) > 1:
        program = _partly_mapped(program)
    program = _longer(draw, program, grammar._replace(ops=("cast",)), shapes, "v0")
    for number in range(draw(choose.integers(0, LONGEST - 3))):
        program = _longer(draw, program, grammar, shapes, f"v{number + 1}")
    return _refused(draw, program, grammar, shapes, rule)


@choose.composite
def mapped_programs(draw: Draw, levels: tuple[Axis, ...]) -> TypedProgram:
    """Draw a well-typed program of up to three steps, which may name ``levels``."""
    grammar = ACROSS._replace(levels=levels)
    program = _start(draw, grammar)
    shapes = {name: given.shape for name, given in program.inputs.items()}
    for number in range(draw(choose.integers(1, 3))):
        program = _longer(draw, program, grammar, shapes, f"v{number}")
    return program


def _longer(draw: Draw, program: TypedProgram, grammar: Grammar, shapes: Shapes, output: str) -> TypedProgram:
    """Return the program with a step more, whose shape is added to ``shapes``; or as it is, where none was found."""
    for _ in range(TRIES):
        found = _step(draw, program, grammar, shapes, output)
        if found is None:
            continue
        step, shape = found
        longer = replace(program, steps=(*program.steps, step), results=(*program.results, step.output))
        if _rule(over_mesh(longer, [level.name for level in grammar.levels])) is None:
            shapes[output] = shape
            return longer
    return program


def _refused(draw: Draw, program: TypedProgram, grammar: Grammar, shapes: Shapes, rule: str) -> TypedProgram:
    """Return the program with a step more that a rule refuses, this ``rule`` if there is one in so many tries."""
    other = program
    for _ in range(TRIES_OF_A_RULE):
        found = _step(draw, program, grammar._replace(ops=WAYS[rule]), shapes, "last")
        if found is None:
            continue
        step, _ = found
        longer = replace(program, steps=(*program.steps, step), results=(*program.results, step.output))
        by = _rule(longer)
        if by == rule:
            return longer
        other = longer if by is not None else other
    return other


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
        automatic=draw(choose.sampled_from([True] * 4 + [False])),
    )


def _partly_mapped(program: TypedProgram) -> TypedProgram:
    """Return the program without the last axis of its mesh among those that it may name."""
    names = tuple(axis.name for axis in program.mesh[:-1])
    inputs = {
        name: replace(given, varying=tuple(axis for axis in given.varying if axis in names))
        for name, given in program.inputs.items()
    }
    return replace(program, mapped=names, inputs=inputs)


def _input(draw: Draw, mesh: Sequence[Axis], known: Sequence[str]) -> TypedInput:
    world = math.prod(axis.size for axis in mesh)
    shape = draw(choose.sampled_from([(world,), (world, 2), (), (world,), (2, world), (world, world)]))
    varying = tuple(axis for axis in sorted(known) if draw(choose.booleans()))
    return TypedInput(dtype="int32", shape=shape, varying=varying)


def _rule(program: TypedProgram) -> str | None:
    """Return the rule that refuses a program."""
    try:
        check(program)
    except IllTyped as error:
        return error.clause
    return None


def _step(
    draw: Draw, program: TypedProgram, grammar: Grammar, shapes: Shapes, output: str
) -> tuple[TypedStep, Shape] | None:
    last = list(shapes)[-1]
    name = draw(choose.sampled_from([last, last, last, *shapes]))
    after_cast = bool(program.steps) and program.steps[-1].op == "cast"
    levels, ops = grammar.levels, (*grammar.ops, *(AFTER_CAST if after_cast else ()))
    op, shape = draw(choose.sampled_from(ops)), shapes[name]
    if op in PAIRS or op == "negate":
        others = [each for each in shapes if shapes[each] == shape]
        inputs = (name,) if op == "negate" else (name, draw(choose.sampled_from(others)))
        return TypedStep(op=op, inputs=inputs, output=output), shape
    if op == "sum":
        return _summed(draw, name, output, shape) if shape else None
    axes = _axes(draw, program, levels)
    others = [axis for axis in program.names if after_cast and axis not in program.steps[-1].axes]
    if others and op == "all_reduce" and draw(choose.booleans()):
        return _beside(draw, program, last, output, draw(choose.sampled_from(others))), shapes[last]
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
    if step.op in ("permute", "shuffle"):
        # What their positions are in another order of mesh axes is a clause of the programs of collectives.
        meshwise = iter([axis.name for axis in program.mesh if axis.name in step.axes])
        named = {level.name for level in levels}
        step = replace(step, axes=tuple(axis if axis in named else next(meshwise) for axis in step.axes))
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
        order = draw(choose.permutations(range(len(shape))))
        axes = tuple(order[: draw(choose.integers(1, len(shape)))])
        attrs = attrs | {"local_axes": axes}
        shape = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
    return replace(step, attrs=attrs), shape


def _beside(draw: Draw, program: TypedProgram, name: str, output: str, axis: str) -> TypedStep:
    """Return a sum or a mean over another axis than that of a cast, whose state the result still has."""
    (size,) = (each.size for each in program.mesh if each.name == axis)
    op = draw(choose.sampled_from(["sum"] + ["mean"] * 3 * (size.bit_count() == 1)))
    return TypedStep(op="all_reduce", inputs=(name,), output=output, axes=(axis,), attrs={"op": op})


def _summed(draw: Draw, name: str, output: str, shape: Shape) -> tuple[TypedStep, Shape]:
    axis = draw(choose.integers(0, len(shape) - 1))
    step = TypedStep(op="sum", inputs=(name,), output=output, attrs={"axis": axis})
    return step, shape[:axis] + shape[axis + 1 :]


def _positional(draw: Draw, program: TypedProgram) -> bool:
    """Return whether a sum is over a local axis too; where types are checked that is refused, and so seldom drawn."""
    return draw(choose.sampled_from([True, True, False] if not program.checked else [True] + [False] * 11))


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
    order = draw(
        choose.permutations(draw(choose.sampled_from([known] * 4 * bool(known) + [known if levels else every])))
    )
    return tuple(order[: draw(choose.sampled_from([1, 1, 1, 2, 2, 3]))])
