"""A typed program made readable: its steps, its blocks, and its values or cotangents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from conformance.cases.program.program import Step
from conformance.cases.program.step_line import step_line
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_case import Level, TypedCase, arrays
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.transforms.meaning import TypedMeaning, typed_meaning
from conformance.reference.types.values import visible
from conformance.report.failures.example import Example, NamedValue, blocks_of


def of_typed(case: TypedCase) -> Example:
    """Return a typed program with its blocks, and what is asked of it: values, cotangents, tangents or slices."""
    program = case.program
    given = {
        **arrays(case.inputs),
        **{f"cotangent of {name}": blocks for name, blocks in arrays(case.cotangents).items()},
        **{f"tangent of {name}": blocks for name, blocks in arrays(case.tangents).items()},
    }
    shown = Example(
        dialect="types",
        mesh=", ".join(f"{axis.name} = {axis.size}" for axis in program.mesh),
        world=program.world,
        steps=tuple(_lines(case)),
        inputs=_values(given),
    )
    if case.lowered or case.compiled:
        return shown
    try:
        meaning = typed_meaning(case)
    except ValueError as error:
        return msgspec.structs.replace(shown, rejection=" ".join(str(error).split())[:400])
    for refusal in (meaning.refused, meaning.no_rule):
        if refusal is not None:
            return msgspec.structs.replace(shown, rejection=str(refusal))
    return msgspec.structs.replace(shown, expected=_values(_expected(meaning)))


def _lines(case: TypedCase) -> Iterator[str]:
    program = case.program
    yield from _about(program)
    yield from map(_level, case.batch)
    for name, given in program.inputs.items():
        shape = ", ".join(map(str, given.shape))
        along = f" varying along {', '.join(given.varying)}" if given.varying else ""
        yield f"{name}: {given.dtype}[{shape}]{along}"
    yield from map(typed_line, program.steps)
    yield _asked(case)


def _asked(case: TypedCase) -> str:
    if case.lowered or case.compiled:
        return f"return what is {'compiled' if case.compiled else 'lowered'}"
    if case.cotangents:
        return f"return the cotangents of {', '.join(case.program.inputs)}"
    return f"return {'the tangents of ' if case.tangents else ''}{', '.join(case.program.results)}"


def _about(program: TypedProgram) -> Iterator[str]:
    if not program.checked:
        yield "types are not checked"
    elif not program.automatic:
        yield "no cast is automatic"
    if program.mapped is not None:
        yield f"mapped over {', '.join(program.mapped) or 'no axis'}"


def _level(level: Level) -> str:
    given = ", ".join(f"axis {axis} of {name}" for name, axis in level.inputs.items())
    return f"level {level.name} = {level.size}: {given}{', ' if given else ''}axis {level.result} of each result"


def typed_line(step: TypedStep) -> str:
    """Return a step as one line, as a step of a program is written."""
    plain = Step(
        op=step.op,
        inputs=step.inputs,
        outputs=(step.output,),
        axes=step.axes,
        attrs=step.attrs,
        groups=step.groups,
        start=step.start,
    )
    return step_line(plain) if step.axes else step_line(plain).removesuffix(" over ")


def _expected(meaning: TypedMeaning) -> Mapping[str, Sequence[Array]]:
    """Return what is asked for: cotangents of inputs, tangents of results, or results."""
    case = meaning.case
    if case.cotangents:
        return {f"cotangent of {name}": blocks for name, blocks in meaning.back.items()}
    found = meaning.pushed if case.tangents else meaning.values
    said = "tangent of " if case.tangents else ""
    results = {name: found[name] for name in case.program.results if name in found}
    if not case.batch:  # where it is mapped an unreduced result is a sum already
        results = {name: visible(case.program, meaning.types[name], blocks) for name, blocks in results.items()}
    return {f"{said}{name}": blocks for name, blocks in results.items()}


def _values(given: Mapping[str, Sequence[Array]]) -> tuple[NamedValue, ...]:
    return tuple(NamedValue(name=name, blocks=blocks_of(blocks)) for name, blocks in given.items())
