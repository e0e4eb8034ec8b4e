"""The data of typed cases: small numbers, chosen so that no operation of the program rounds.

Then every order and every tree gives the same bits, and equality is demanded.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from conformance.cases.program.program import Axis, lines
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import Level, TypedCase, given_shape
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.transforms.pairing import cotangent_type
from conformance.reference.transforms.transposed_program import PREFIX, transposed_program
from conformance.reference.types.check import paired_types
from conformance.reference.types.ill_typed import IllTyped
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import neighbour, row, seldom
from conformance.specs.types.domain import mapped_programs, typed_programs, uneven_programs
from conformance.specs.types.exactness import EXACT, POOL, WIDER, bits, has_mean, orders, shapes_of
from conformance.specs.types.grammar import BACK, FORTH, LOWERED, NEVER
from conformance.specs.types.rare.calls import (
    called_program,
    combined_program,
    lowered_program,
    mapped_calls,
    started_program,
)
from conformance.specs.types.rare.linear_programs import linear_program
from conformance.specs.types.rare.mapped_programs import mapped_listing
from conformance.specs.types.rare.refused_programs import refused_program
from conformance.specs.types.rare.refused_steps import refused_step_program
from conformance.specs.types.rare.states import states_program


@choices.composite
def typed_cases(draw: Draw) -> TypedCase:
    """Draw a program with inputs; its dtype is one in which every value of it is exact.

    Now and then an input is a result as well. At some numbers of draws it is a program about the states of values, one
    of calls that are started, one that is barely refused, or one that ends in a step which the next rule refuses.
    """
    turn, share, number = seldom(draw), neighbour(draw), row(draw)
    if number is not None:
        program = refused_step_program(draw, number)
    elif share is not None:
        program = refused_program(draw, share // 2) if share % 2 else started_program(draw, share // 2)
    else:
        program = draw(typed_programs()) if turn is None else states_program(draw, turn)
    if draw(choices.sampled_from([False] * 7 + [True])):
        program = replace(program, results=(*program.results, next(iter(program.inputs))))
    return _case(draw, _shortened(_in_halves(draw, program), back=False), back=False)


def _in_halves(draw: Draw, program: TypedProgram) -> TypedProgram:
    """Return the program, in one of two draws with each permute that is not started as a send and its recv."""
    halved = any(step.op == "permute" and not step.start for step in program.steps) and draw(choices.booleans())
    steps: list[TypedStep] = []
    for step in program.steps:
        if halved and step.op == "permute" and not step.start:
            token = f"{step.output} sent"
            steps.append(replace(step, op="send", output=token))
            steps.append(replace(step, op="recv", inputs=(token,)))
        else:
            steps.append(step)
    return replace(program, steps=tuple(steps))


@choices.composite
def transposed_cases(draw: Draw) -> TypedCase:
    """Draw a program with inputs and a cotangent for each of its results: the last value, or some, inputs too.

    At some numbers of draws it has several chains, each with a result of its own, or calls of a table.
    """
    rare = _linear(draw)
    drawn = rare or _with_results(draw, draw(typed_programs(BACK)))
    program = _shortened(drawn, back=True)
    case = _case(draw, program, back=True)
    program = case.program
    if not program.results:
        return case
    try:
        types = paired_types(program)
    except IllTyped:
        return case
    (dtype,) = {given.dtype for given in program.inputs.values()}
    shapes = shapes_of(program)
    given = {
        name: _blocks(draw, program.mesh, cotangent_type(types[name]), shapes[name], dtype) for name in program.results
    }
    whole = replace(case, cotangents=given)
    return _turned(whole, shapes) if draw(choices.integers(1, 6)) == 1 else whole


def _turned(case: TypedCase, shapes: Mapping[str, tuple[int, ...]]) -> TypedCase:
    """Return the transposed program with cotangents for inputs and inputs for cotangents, if there is one."""
    turned = transposed_program(case.program, shapes)
    if turned is None or len(turned.program.results) < len(case.program.inputs):
        return case
    inputs = {PREFIX + name: blocks for name, blocks in case.cotangents.items()}
    cotangents = {made: case.inputs[name] for name, made in turned.results.items()}
    return TypedCase(program=turned.program, inputs=inputs, cotangents=cotangents)


def _with_results(draw: Draw, program: TypedProgram) -> TypedProgram:
    """Return the program with its last result alone, or with up to three of its values in any order."""
    count = draw(choices.sampled_from([1, 1, 1, 2, 3]))
    if count == 1 or not program.results:
        return replace(program, results=program.results[-1:])
    order = draw(choices.permutations([*program.inputs, *program.results]))
    return replace(program, results=tuple(order[:count]))


@choices.composite
def pushed_cases(draw: Draw) -> TypedCase:
    """Draw a program with inputs and a tangent for each of them, of its type."""
    program = _linear(draw) or draw(typed_programs(FORTH))
    case = _case(draw, _shortened(program, back=True), back=True)
    tangents = {
        name: _blocks(draw, case.program.mesh, AxisType(varying=given.varying), given.shape, given.dtype)
        for name, given in case.program.inputs.items()
    }
    return replace(case, tangents=tangents)


def _linear(draw: Draw) -> TypedProgram | None:
    """Return the linear program of a draw with such a number, or ``None`` for any other draw."""
    turn, share = seldom(draw), neighbour(draw)
    if share is not None:
        return called_program(draw, share)
    return None if turn is None else linear_program(draw, turn)


@choices.composite
def lowered_cases(draw: Draw) -> TypedCase:
    """Draw a well-typed program to be lowered; its inputs are there for its shapes alone.

    At some numbers of draws it begins with a reduction over groups of which some are smaller than others, or has calls
    of a table.
    """
    share = neighbour(draw)
    if share is not None:
        program = lowered_program(draw, share)
    else:
        uneven = LOWERED._replace(starts=NEVER)
        program = draw(typed_programs(LOWERED) if seldom(draw) is None else uneven_programs(uneven))
    program = _in_halves(draw, program)
    return replace(_case(draw, _shortened(program, back=False), back=False), lowered=True)


def combined_case(draw: Draw, turn: int) -> TypedCase:
    """Draw inputs for two calls of one operation over unlike axes."""
    return _case(draw, combined_program(draw, turn), back=False)


@choices.composite
def batched_cases(draw: Draw) -> TypedCase:
    """Draw a program with inputs and one or two levels to map it over, each of up to three slices.

    At some numbers of draws it has several chains, with operands that no level maps, or calls of a table.
    """
    turn, share = seldom(draw), neighbour(draw)
    others = [(2,), (3,), (2,), (3,), (1,)] if share is None else [(2, 2), (2, 2)]
    sizes = draw(choices.sampled_from([*others, (2, 2), (2, 3), (3, 2)]))
    axes = tuple(Axis(name=name, size=size) for name, size in zip(("p", "q"), sizes, strict=False))
    rare = None if turn is None else mapped_listing(draw, turn, axes)
    rare = rare if share is None else mapped_calls(draw, share, axes)
    program = draw(mapped_programs(axes)) if rare is None else rare.program()
    unmapped, places = (rare.unmapped, rare.places) if rare else (set[str](), dict[str, int]())
    wide = _shortened(replace(_in_halves(draw, program), mesh=(*program.mesh, *axes)), back=False)
    case = _case(draw, wide, back=False)
    program = replace(case.program, mesh=program.mesh)
    levels: list[Level] = []
    ranks = {name: len(given.shape) for name, given in program.inputs.items()}
    shapes = shapes_of(wide)
    least = min((len(shapes[name]) for name in program.results), default=0)
    for number, axis in reversed(list(enumerate(axes))):
        free = [name for name in program.inputs if name not in unmapped]
        inner = places if number == len(axes) - 1 else {}
        mapped = [name for name in free if draw(choices.sampled_from([True, True, False])) or name in inner]
        inputs = {name: inner.get(name, draw(choices.integers(0, ranks[name]))) for name in mapped or free[:1]}
        ranks |= {name: ranks[name] + 1 for name in inputs}
        result = draw(choices.integers(0, least + len(axes) - 1 - number))
        levels.insert(0, Level(name=axis.name, size=axis.size, inputs=inputs, result=result))
    whole = TypedCase(program=program, inputs={}, batch=tuple(levels))
    blocks = {
        name: _blocks(draw, program.mesh, AxisType(varying=given.varying), given_shape(whole, name), given.dtype)
        for name, given in program.inputs.items()
    }
    return replace(whole, inputs=blocks)


def _case(draw: Draw, program: TypedProgram, *, back: bool) -> TypedCase:
    if any(step.op == "axis_index" for step in program.steps):
        exact = "int32"
    else:
        kinds = {"float"}
        kinds |= set() if back or has_mean(program) else {"integer"}
        kinds |= set() if orders(program) else {"complex"}
        exact = draw(choices.within([each for each in EXACT if kind(each) in kinds], "dtype"))
        while bits(program, exact, back=back) > EXACT[exact]:
            exact = WIDER[exact]
    program = replace(program, inputs={name: replace(given, dtype=exact) for name, given in program.inputs.items()})
    blocks = {
        name: _blocks(draw, program.mesh, AxisType(varying=given.varying), given.shape, exact)
        for name, given in program.inputs.items()
    }
    return TypedCase(program=program, inputs=blocks)


def _shortened(program: TypedProgram, *, back: bool) -> TypedProgram:
    """Return the longest beginning of a program whose values are whole numbers that one dtype holds, forth and back.

    An ``axis_index`` is an int32, and so is all that it meets: it is in no program that has a mean or is to go back.
    """
    numbers = [number for number, step in enumerate(program.steps) if step.op == "axis_index"]
    if numbers and (back or has_mean(program)):
        program = _beginning(program, numbers[0])
    while program.steps:
        index = any(step.op == "axis_index" for step in program.steps)
        dtype = "int32" if index else "float64"
        if bits(program, dtype, back=back) <= EXACT[dtype]:
            break
        program = _beginning(program, len(program.steps) - 1)
    return program


def _beginning(program: TypedProgram, steps: int) -> TypedProgram:
    """Return the first steps of a program, and of its results those that are there, or else the last value."""
    rest = replace(program, steps=program.steps[:steps])
    made = [step.output for step in rest.steps if not step.start and step.op != "send"]
    found = tuple(name for name in program.results if name in made or name in program.inputs)
    return replace(rest, results=found or tuple(made[-1:]))


def _blocks(
    draw: Draw, mesh: tuple[Axis, ...], given: AxisType, shape: tuple[int, ...], dtype: str
) -> tuple[Tensor, ...]:
    """Draw a block for each rank: equal ones along the axes where the type says so, and elsewhere unlike ones."""
    same = tuple(axis.name for axis in mesh if given.state(axis.name) in ("invariant", "reduced"))
    start = draw(choices.integers(0, len(POOL) - 1))
    groups = lines(mesh, same)
    blocks: list[Tensor | None] = [None] * sum(map(len, groups))
    size = int(np.prod(shape))
    for number, line in enumerate(groups):
        pool = np.roll(np.array(POOL, NUMPY[dtype]), start + 3 * number)
        pool = pool + np.roll(pool, 4) * NUMPY[dtype].type(1j) if kind(dtype) == "complex" else pool
        tensor = from_array(np.resize(pool, size).reshape(shape))
        for rank in line:
            blocks[rank] = tensor
    return tuple(block for block in blocks if block is not None)
