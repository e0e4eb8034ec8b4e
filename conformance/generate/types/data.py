"""The data of typed cases: small numbers, chosen so that no operation of the program rounds.

Then every order and every tree gives the same bits, and equality is demanded.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from conformance.cases.program.program import Axis
from conformance.cases.tensor.dtypes import kind
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import Level, TypedCase, given_shape
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.types.domain import (
    RULES,
    ill_typed_programs,
    mapped_programs,
    typed_programs,
    uneven_programs,
)
from conformance.generate.types.exactness import EXACT, POOL, WIDER, bits, blocks_of, has_mean, orders, shapes_of
from conformance.generate.types.grammar import BACK, FORTH, LOWERED, NEVER
from conformance.reference.transforms.pairing import cotangent_type
from conformance.reference.transforms.transposed_program import PREFIX, transposed_program
from conformance.reference.types.check import paired_types
from conformance.reference.types.ill_typed import IllTyped


@choices.composite
def typed_cases(draw: Draw) -> TypedCase:
    """Draw a program with inputs; its dtype is one in which every value of it is exact.

    Now and then an input is a result as well.
    """
    return _typed(draw, draw(typed_programs()))


@choices.composite
def ill_typed_cases(draw: Draw) -> TypedCase:
    """Draw a program whose last step a rule refuses, each rule in turn, with inputs."""
    return _typed(draw, draw(ill_typed_programs(RULES[draw.turn % len(RULES)])))


def _typed(draw: Draw, program: TypedProgram) -> TypedCase:
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
    """Draw a program with inputs and a cotangent for each of its results: the last value, or some, inputs too."""
    program = _shortened(_with_results(draw, draw(typed_programs(BACK))), back=True)
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
    program = draw(typed_programs(FORTH))
    case = _case(draw, _shortened(program, back=True), back=True)
    tangents = {
        name: _blocks(draw, case.program.mesh, AxisType(varying=given.varying), given.shape, given.dtype)
        for name, given in case.program.inputs.items()
    }
    return replace(case, tangents=tangents)


@choices.composite
def lowered_cases(draw: Draw) -> TypedCase:
    """Draw a well-typed program to be lowered; its inputs are there for its shapes alone.

    Now and then it begins with a reduction over groups of which some are smaller than others.
    """
    uneven = draw(choices.sampled_from([False] * 15 + [True]))
    drawn = uneven_programs(LOWERED._replace(starts=NEVER)) if uneven else typed_programs(LOWERED)
    return replace(_case(draw, _shortened(_in_halves(draw, draw(drawn)), back=False), back=False), lowered=True)


def compiled_cases() -> choices.Choice[TypedCase]:
    """Return the choice of a well-typed program to be compiled, as one to be lowered is drawn."""
    return lowered_cases().map(lambda case: replace(case, lowered=False, compiled=True))


@choices.composite
def batched_cases(draw: Draw) -> TypedCase:
    """Draw a program with inputs and one or two levels to map it over, each of up to three slices."""
    sizes = draw(choices.sampled_from([(2,), (3,), (2,), (3,), (1,), (2, 2), (2, 3), (3, 2)]))
    axes = tuple(Axis(name=name, size=size) for name, size in zip(("p", "q"), sizes, strict=False))
    program = draw(mapped_programs(axes))
    wide = _shortened(replace(_in_halves(draw, program), mesh=(*program.mesh, *axes)), back=False)
    case = _case(draw, wide, back=False)
    program = replace(case.program, mesh=program.mesh)
    levels: list[Level] = []
    ranks = {name: len(given.shape) for name, given in program.inputs.items()}
    shapes = shapes_of(wide)
    least = min((len(shapes[name]) for name in program.results), default=0)
    for number, axis in reversed(list(enumerate(axes))):
        mapped = [name for name in program.inputs if draw(choices.sampled_from([True, True, False]))]
        inputs = {name: draw(choices.integers(0, ranks[name])) for name in mapped or [*program.inputs][:1]}
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
    """Draw a block for each rank."""
    return blocks_of(mesh, given, shape, dtype, draw(choices.integers(0, len(POOL) - 1)))
