"""Listed reductions of typed cases: one step, input, option, level or axis of a step less."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.cases.types.typed_case import Level, TypedCase


def reductions(case: TypedCase) -> Iterator[TypedCase]:
    """Yield cases with one step, input, option, level or axis of a step less."""
    program = case.program
    for at in reversed(range(len(program.steps))):
        yield _without(case, at)
    for name in program.inputs:
        used = {value for step in program.steps for value in step.inputs}
        if name not in used and len(program.inputs) > 1:
            rest = {other: given for other, given in program.inputs.items() if other != name}
            blocks = {other: given for other, given in case.inputs.items() if other != name}
            tangents = {other: given for other, given in case.tangents.items() if other != name}
            yield replace(case, program=replace(program, inputs=rest), inputs=blocks, tangents=tangents)
    if not case.cotangents and len(program.results) > 1:
        yield from (replace(case, program=replace(program, results=(name,))) for name in program.results)
    if len(case.cotangents) > 1:
        yield from (_only(case, name) for name in case.cotangents)
    if program.mapped is not None:
        yield replace(case, program=replace(program, mapped=None))
    if not program.automatic:
        yield replace(case, program=replace(program, automatic=True))
    for at, level in enumerate(case.batch):
        if len(case.batch) > 1:
            yield _fewer_slices(case, at, 0)
        if level.size > 2:
            yield _fewer_slices(case, at, 2)
    for at, step in enumerate(program.steps):
        for axis in step.axes if len(step.axes) > 1 else ():
            fewer = replace(step, axes=tuple(other for other in step.axes if other != axis))
            yield replace(case, program=replace(program, steps=(*program.steps[:at], fewer, *program.steps[at + 1 :])))


def _only(case: TypedCase, name: str) -> TypedCase:
    """Return the case with one result and its cotangent."""
    return replace(case, program=replace(case.program, results=(name,)), cotangents={name: case.cotangents[name]})


def _without(case: TypedCase, at: int) -> TypedCase:
    """Return the case without a step; what took its result takes its first operand."""
    gone, program = case.program.steps[at], case.program
    instead = gone.inputs[0] if gone.inputs else None
    steps = tuple(
        replace(step, inputs=tuple((instead or name) if name == gone.output else name for name in step.inputs))
        for step in (*program.steps[:at], *program.steps[at + 1 :])
    )
    results = tuple(name for name in program.results if name != gone.output)
    cotangents = {name: blocks for name, blocks in case.cotangents.items() if name != gone.output}
    if case.cotangents and not cotangents and steps:
        cotangents, results = {steps[-1].output: next(iter(case.cotangents.values()))}, (steps[-1].output,)
    return replace(case, program=replace(program, steps=steps, results=results), cotangents=cotangents)


def _fewer_slices(case: TypedCase, at: int, count: int) -> TypedCase:
    """Return the case with the first ``count`` slices of a level, or with the first one and no level for 0."""
    level = case.batch[at]

    def kept(name: str, block: Tensor) -> Tensor:
        if name not in level.inputs:
            return block
        axis = _axis(case.batch, at, name)
        slices = 0 if count == 0 else np.arange(count)
        return from_array(np.ascontiguousarray(to_array(block).take(slices, axis)))

    inputs = {name: tuple(kept(name, block) for block in blocks) for name, blocks in case.inputs.items()}
    if count:
        batch = (*case.batch[:at], replace(level, size=count), *case.batch[at + 1 :])
        return replace(case, inputs=inputs, batch=batch)
    steps = (replace(step, axes=tuple(axis for axis in step.axes if axis != level.name)) for step in case.program.steps)
    batch = (*case.batch[:at], *case.batch[at + 1 :])
    return replace(case, program=replace(case.program, steps=tuple(steps)), inputs=inputs, batch=batch)


def _axis(batch: tuple[Level, ...], at: int, name: str) -> int:
    """Return the axis of a level in a block that still has the axes of the levels outside."""
    axis = batch[at].inputs[name]
    for outer in reversed(batch[:at]):
        if name in outer.inputs:
            axis += outer.inputs[name] <= axis
    return axis
