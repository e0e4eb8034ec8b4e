"""The steps of typed programs: an operation on values that are there, with attributes that fit them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from conformance.cases.program.program import Axis, Groups
from conformance.cases.types.axis_type import INVARIANT, STATES, AxisType, State
from conformance.cases.types.starts import DONES, no_start, no_such_start
from conformance.cases.types.typed_program import GROUPED, TypedProgram, TypedStep
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.types.grammar import AFTER_CAST, EMPTY, LARGEST, PAIRS, TRIES, UNCHECKED, Grammar
from conformance.generate.types.steps import Fitting, Shape, ragged
from conformance.generate.types.steps import fitting as fitted
from conformance.reference.types.casts import TABLE
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped

Shapes = dict[str, Shape]


def drawn_step(
    draw: Draw, program: TypedProgram, grammar: Grammar, shapes: Shapes, output: str, *, wild: bool = False
) -> tuple[TypedStep, Shape] | None:
    """Draw a step and the shape of what it gives, or nothing where the operation fits no value.

    Operands are not started, and what is waited for is, unless the step is to be ``wild``.
    """
    started = list(program.started)
    if "done" in grammar.ops or (started and not wild and len(grammar.ops) > 1 and draw(choices.booleans())):
        return _done(draw, program, shapes, output, wild=wild)
    ready = {name: shape for name, shape in shapes.items() if wild or name not in started}
    found = _step(draw, program, grammar, ready, output)
    if found is None:
        return None
    step, shape = found
    starts = (
        step.op in DONES
        and step.axes
        and no_start(step.op, step.attrs) is None
        and no_such_start(step.op, step.attrs) is None
    )
    if starts and grammar.starts and _is_started(draw, grammar.starts):
        step = replace(step, start=True)
    return step, shape


def _is_started(draw: Draw, one_in: int) -> bool:
    return draw(choices.within(range(1, one_in + 1), "starts", lambda at: "psum" if at == 1 else "none")) == 1


def _done(
    draw: Draw, program: TypedProgram, shapes: Shapes, output: str, *, wild: bool
) -> tuple[TypedStep, Shape] | None:
    """Wait for what is started, once or again; a wild one for anything, with any word for what it is."""
    started = program.started
    name = draw(choices.sampled_from([*(list(shapes) if wild else []), *started]))
    of = draw(choices.sampled_from(list(DONES))) if wild else started[name]
    return TypedStep(op="done", inputs=(name,), output=output, attrs={"of": of}), shapes[name]


def _step(
    draw: Draw, program: TypedProgram, grammar: Grammar, shapes: Shapes, output: str
) -> tuple[TypedStep, Shape] | None:
    last = list(shapes)[-1]
    name = draw(choices.sampled_from([last, last, last, *shapes]))
    after_cast = bool(program.steps) and program.steps[-1].op == "cast"
    levels, shape = grammar.levels, shapes[name]
    op = draw(choices.within((*grammar.ops, *_more(program, grammar, shape, after_cast=after_cast)), "steps"))
    if op in PAIRS or op == "negate":
        inputs = (name,) if op == "negate" else (name, _partner(draw, program, shapes, name))
        return TypedStep(op=op, inputs=inputs, output=output), shape
    if op == "sum":
        return _summed(draw, name, output, shape) if shape else None
    axes = _axes(draw, program, levels)
    if op == "cast" and after_cast and draw(choices.booleans()):
        # Often there is one from where a cast leads, along the axes of that one.
        name, axes = last, program.steps[-1].axes
    others = [axis for axis in program.names if after_cast and axis not in program.steps[-1].axes]
    if others and op == "all_reduce" and draw(choices.booleans()):
        return _beside(draw, program, last, output, draw(choices.sampled_from(others))), shapes[last]
    if op == "axis_index":
        return TypedStep(op=op, inputs=(), output=output, axes=axes), ()
    if op == "cast":
        to = _to(draw, program, name, axes[0])
        return TypedStep(op=op, inputs=(name,), output=output, axes=axes, attrs={"to": to}), shapes[name]
    return _collective(draw, program, TypedStep(op=op, inputs=(name,), output=output, axes=axes), shapes, levels)


def _more(program: TypedProgram, grammar: Grammar, shape: Shape, *, after_cast: bool) -> tuple[str, ...]:
    """Return operations to draw beside those of a grammar that has several."""
    if len(grammar.ops) == 1:
        return ()
    found = () if program.checked else UNCHECKED
    return (*found, *(AFTER_CAST if after_cast else ()), *(EMPTY if 0 in shape else ()))


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
    if step.op in GROUPED and _in_groups(draw, program, step.op):
        step = replace(step, groups=_groups(draw, size, uneven=step.op == "all_reduce"))
        size = _size_of(step.groups or ())
    if step.op == "ragged_all_to_all":
        other = _written(draw, program, shapes, name)
        step = replace(step, inputs=(name, other))
        fitting = _ragged(draw, (shape, shapes[other], size), [each for each in levels if each.name not in step.axes])
    else:
        fitting = fitted(draw, step.op, shape, size)
    if fitting is None or math.prod(fitting.shape) > LARGEST:
        return None
    named = {level.name for level in levels}
    if fitting.attrs.get("to", "varying") != "varying" and named & set(step.axes):
        return None
    step = replace(step, attrs=dict(fitting.attrs))
    if step.op == "all_reduce" and shape and step.groups is None and _positional(draw, program):
        return _over_local_axes(draw, step, fitting.shape)
    return step, fitting.shape


def _written(draw: Draw, program: TypedProgram, shapes: Shapes, name: str) -> str:
    """Draw what the rows of a value are written over, every second one of another type than the value's."""
    others = [each for each in shapes if shapes[each][1:] == shapes[name][1:]]
    types = _types(program)
    unlike = [each for each in others if types.get(each) != types.get(name)]
    apart = bool(unlike) and draw(choices.booleans())
    return draw(choices.sampled_from(unlike if apart else others))


def _ragged(draw: Draw, of: tuple[Shape, Shape, int], levels: Sequence[Axis]) -> Fitting | None:
    """Return the offsets and sizes of an exchange, mostly with rows of its own for each slice of a level."""
    first = ragged(draw, *of)
    if first is None or not levels or draw(choices.integers(0, 3)) == 3:
        return first
    level, found = draw(choices.sampled_from(levels)), [first]
    for _ in range(TRIES * level.size):
        other = ragged(draw, *of)
        if other is not None and _width(other) == _width(first) and len(found) < level.size:
            found.append(other)
    if len(found) < level.size:
        return first
    rows = {name: tuple(row for each in found for row in _rows(each, name)) for name in first.attrs}
    return Fitting({**rows, "level": level.name}, first.shape)


def _width(found: Fitting) -> int:
    return len(_rows(found, "send_sizes")[0])


def _rows(found: Fitting, name: str) -> Groups:
    rows = found.attrs[name]
    assert isinstance(rows, tuple)
    return cast("Groups", rows)


def _in_groups(draw: Draw, program: TypedProgram, op: str) -> bool:
    """Return whether a step is for groups: a reduction mostly where nothing has a type, for else it is refused."""
    often = op == "all_reduce" and not program.checked
    options = [False, True] if often else [False] * 5 + [True]
    return draw(choices.within(options, "groups", lambda grouped: "some" if grouped else "none"))


def _size_of(groups: Groups) -> int:
    """Return the one size of groups; of unequal ones a power of two if all are, for over such a mean rounds nothing."""
    sizes = {len(group) for group in groups}
    if len(sizes) == 1:
        return sizes.pop()
    return 2 if all(size.bit_count() == 1 for size in sizes) else 3


def _over_local_axes(draw: Draw, step: TypedStep, shape: Shape) -> tuple[TypedStep, Shape] | None:
    """Return the reduction over local axes too: of no elements there is only a sum, and means are over powers of two.

    It is nothing where that does not fit.
    """
    order = draw(choices.permutations(range(len(shape))))
    axes = tuple(order[: draw(choices.integers(1, len(shape)))])
    terms, op = math.prod(shape[axis] for axis in axes), step.attrs["op"]
    if terms.bit_count() != 1 and (op == "mean" or (terms == 0 and op != "sum")):
        return None
    rest = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
    return replace(step, attrs={**step.attrs, "local_axes": axes}), rest


def _partner(draw: Draw, program: TypedProgram, shapes: Shapes, name: str) -> str:
    """Draw the second operand of a local operation, every second one of the type of the first, but another value."""
    others = [each for each in shapes if shapes[each] == shapes[name]]
    types = _types(program)
    alike = [each for each in others if types.get(each) == types.get(name) and each != name]
    same_type = bool(alike) and draw(choices.booleans())
    return draw(choices.sampled_from(alike if same_type else others))


def _types(program: TypedProgram) -> dict[str, AxisType]:
    """Return the type of every value, or of none of an ill-typed program."""
    try:
        return check(program)
    except IllTyped:
        return {}


def _beside(draw: Draw, program: TypedProgram, name: str, output: str, axis: str) -> TypedStep:
    """Return a sum or a mean over another axis than that of a cast, whose state the result still has."""
    (size,) = (each.size for each in program.mesh if each.name == axis)
    op = draw(choices.sampled_from(["sum"] + ["mean"] * 3 * (size.bit_count() == 1)))
    return TypedStep(op="all_reduce", inputs=(name,), output=output, axes=(axis,), attrs={"op": op})


def _summed(draw: Draw, name: str, output: str, shape: Shape) -> tuple[TypedStep, Shape]:
    axis = draw(choices.integers(0, len(shape) - 1))
    step = TypedStep(op="sum", inputs=(name,), output=output, attrs={"axis": axis})
    return step, shape[:axis] + shape[axis + 1 :]


def _positional(draw: Draw, program: TypedProgram) -> bool:
    """Return whether a sum is over a local axis too; where types are checked that is refused, and so seldom drawn."""
    options = [True, True, False] if not program.checked else [True] + [False] * 11
    return draw(choices.within(options, "local_axes", lambda local: "sum" if local else "none"))


def _groups(draw: Draw, size: int, *, uneven: bool) -> Groups:
    """Draw a partition of positions in any order, into groups of one size or not."""
    order = draw(choices.permutations(range(size)))
    if uneven and size > 1 and draw(choices.booleans()):
        found: list[tuple[int, ...]] = []
        while order:
            count = draw(choices.integers(1, len(order)))
            found, order = [*found, tuple(order[:count])], order[count:]
        return tuple(found)
    each = draw(choices.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
    return tuple(tuple(order[at : at + each]) for at in range(0, size, each))


def _to(draw: Draw, program: TypedProgram, name: str, axis: str) -> State:
    """Draw what a value is cast to along ``axis``, mostly something that the table has."""
    state = _types(program).get(name, INVARIANT).state(axis)
    return draw(choices.within([to for known, to in sorted(TABLE) if known == state] * 3 + list(STATES), "to"))


def _axes(draw: Draw, program: TypedProgram, levels: tuple[Axis, ...]) -> tuple[str, ...]:
    """Draw one or several axes in any order, now and then one that is not mapped; of levels or of the mesh alone."""
    every = tuple(axis.name for axis in program.mesh)
    known = (*program.names, *(level.name for level in levels))
    pools = [known] * 4 * bool(known) + [program.names or known if levels else every]
    pool = draw(choices.within(pools, "across", lambda names: "mesh" if set(names) <= set(every) else "both"))
    order = draw(choices.permutations(pool))
    return tuple(order[: draw(choices.sampled_from([1, 1, 1, 2, 2, 3]))])
