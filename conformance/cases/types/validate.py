"""Which typed programs and cases are well formed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from conformance.cases.case_error import CaseError
from conformance.cases.name_length import check_names
from conformance.cases.program.program import Axis, lines
from conformance.cases.program.validate import MOST_MESH_AXES, MOST_RANKS, MOST_STEPS
from conformance.cases.tensor.footprint import footprint
from conformance.cases.types.attributes import check_attributes
from conformance.cases.types.starts import no_start
from conformance.cases.types.typed_case import TypedCase, given_shape
from conformance.cases.types.typed_program import COLLECTIVES, GROUPED, LOCAL, OPERANDS, TypedProgram, TypedStep

MOST_MEMBERS: Final = 1 << 14
"""Members of a program that is mapped over levels: each slice on each rank is one, with a block of its own."""


def validate(program: TypedProgram, levels: tuple[Axis, ...] = ()) -> None:
    """Raise ``CaseError`` where a program says nothing definite; an ill-typed program does.

    ``levels`` are the axes that it is mapped over, which its steps may name too.
    """
    _validate_extents(program, levels)
    _validate_axes(program, levels)
    for name, given in program.inputs.items():
        if outside := set(given.varying) - set(program.names):
            raise CaseError(f"input {name!r} varies along {min(outside)!r}, which is not mapped")
        if list(given.varying) != sorted(set(given.varying)):
            raise CaseError(f"input {name!r} varies along axes in the order of the alphabet; got {list(given.varying)}")
        footprint(f"input {name!r}", given.dtype, given.shape)
    known = set(program.inputs)
    for number, step in enumerate(program.steps):
        _validate_step(f"step {number} ({step.op})", step, known)
        where, sizes = f"step {number} ({step.op})", {axis.name: axis.size for axis in (*program.mesh, *levels)}
        if (named := step.attrs.get("level")) is not None and named not in {level.name for level in levels}:
            raise CaseError(f"{where}: level {named!r} is none that the program is mapped over")
        if named is not None and named in step.axes:
            raise CaseError(f"{where}: level {named!r} has rows for each of its slices, and they do not meet")
        _validate_groups(where, step, sizes)
        known.add(step.output)
    if missing := set(program.results) - known:
        raise CaseError(f"result {min(missing)!r} is no value of the program")
    _validate_tokens(program)
    if pending := set(program.results) & set(program.started):
        raise CaseError(f"result {min(pending)!r} is only started; a done of it may be a result")


def _validate_tokens(program: TypedProgram) -> None:
    """Refuse a recv of anything but a token, or of one sent along other pairs, and any other use of a token."""
    sent = program.sent
    if tokens := set(program.results) & set(sent):
        raise CaseError(f"result {min(tokens)!r} is a token; what a recv of it gives may be a result")
    for number, step in enumerate(program.steps):
        where = f"step {number} ({step.op})"
        if step.op != "recv":
            if tokens := set(step.inputs) & set(sent):
                raise CaseError(f"{where} takes the token {min(tokens)!r}; a recv takes it")
            continue
        half = sent.get(step.inputs[0])
        if half is None:
            raise CaseError(f"{where} takes the token of a send; {step.inputs[0]!r} is none")
        if (half.axes, half.attrs) != (step.axes, step.attrs):
            raise CaseError(f"{where} names the axes and the pairs of its send, which are {half.axes}, {half.attrs}")


def _validate_extents(program: TypedProgram, levels: tuple[Axis, ...]) -> None:
    """Refuse what is too large to say anything about in a reasonable time, or in a line."""
    axes = (*program.mesh, *levels)
    for what, found, most in (("axes", len(axes), MOST_MESH_AXES), ("steps", len(program.steps), MOST_STEPS)):
        if found > most:
            raise CaseError(f"the program has {found} {what}; at most {most} are allowed")
    check_names(_names(program, axes))


def _names(program: TypedProgram, axes: tuple[Axis, ...]) -> Iterator[str]:
    """Yield every name and word of a program."""
    yield from (axis.name for axis in axes)
    yield from (*program.results, *program.inputs, *program.names)
    for step in program.steps:
        yield from (step.op, step.output, *step.inputs, *step.axes, *step.attrs)
        yield from (value for value in step.attrs.values() if isinstance(value, str))


def _validate_axes(program: TypedProgram, levels: tuple[Axis, ...]) -> None:
    axes = [axis.name for axis in (*program.mesh, *levels)]
    if len(set(axes)) != len(axes) or any(axis.size < 1 for axis in (*program.mesh, *levels)):
        raise CaseError(f"axes have different names and at least one rank; got {', '.join(map(repr, axes))}")
    if program.world > MOST_RANKS:
        raise CaseError(f"the mesh has {program.world} ranks; at most {MOST_RANKS} are allowed")
    members = program.world * math.prod(level.size for level in levels)
    if members > MOST_MEMBERS:
        raise CaseError(f"slices on ranks are {members}; at most {MOST_MEMBERS} are allowed")
    mesh = {axis.name for axis in program.mesh}
    if missing := set(program.names) - mesh:
        raise CaseError(f"mapped axis {min(missing)!r} is no axis of the mesh, which has {', '.join(sorted(mesh))}")
    if len(set(program.names)) != len(program.names):
        raise CaseError(f"mapped axes are named once each; got {list(program.names)}")


def _validate_step(where: str, step: TypedStep, known: set[str]) -> None:
    if step.op not in COLLECTIVES and step.op not in LOCAL:
        raise CaseError(f"{where}: unknown operation; there are {', '.join(sorted(COLLECTIVES | set(LOCAL)))}")
    if missing := set(step.inputs) - known:
        raise CaseError(f"{where}: {min(missing)!r} is no value before this step")
    if step.output in known:
        raise CaseError(f"{where}: {step.output!r} is a value already")
    wanted = OPERANDS.get(step.op, 1)
    if len(step.inputs) != wanted:
        raise CaseError(f"{where} takes {wanted} operands; got {len(step.inputs)}")
    if (step.op in LOCAL or step.op == "done") and step.axes:
        raise CaseError(f"{where} names no mesh axes; got {list(step.axes)}")
    if len(set(step.axes)) != len(step.axes):
        raise CaseError(f"{where} names each axis once; got {list(step.axes)}")
    check_attributes(where, step.op, step.attrs)
    if step.start and (why := no_start(step.op, step.attrs)):
        raise CaseError(f"{where}: {why}")


def _validate_groups(where: str, step: TypedStep, sizes: dict[str, int]) -> None:
    if step.op == "ragged_all_to_all":
        size = math.prod(sizes.get(axis, 1) for axis in step.axes)
        members = size if step.groups is None else max(map(len, step.groups), default=0)
        members *= sizes.get(str(step.attrs.get("level")), 1)
        for name, rows in step.attrs.items():
            if isinstance(rows, tuple) and len(rows) < members:
                raise CaseError(f"{where}: {name} has {len(rows)} rows for {members} members")
    if step.groups is None:
        return
    if step.op not in GROUPED:
        raise CaseError(f"{where} takes no groups; those that do are {', '.join(sorted(GROUPED))}")
    size = math.prod(sizes.get(axis, 1) for axis in step.axes)
    if sorted(position for group in step.groups for position in group) != list(range(size)):
        raise CaseError(f"{where}: groups have each of the {size} positions once; got {step.groups}")


def validate_case(case: TypedCase) -> None:
    """Raise ``CaseError`` where a case says nothing definite."""
    program = case.program
    validate(program, tuple(Axis(name=level.name, size=level.size) for level in case.batch))
    if set(case.inputs) != set(program.inputs):
        raise CaseError(f"the inputs are {sorted(program.inputs)}, and there are blocks of {sorted(case.inputs)}")
    if missing := set(case.cotangents) - set(program.results):
        raise CaseError(f"{min(missing)!r} has a cotangent and is no result")
    if case.batch:
        _validate_levels(case)
    if case.tangents:
        _validate_tangents(case)
    for name, blocks in (*case.inputs.items(), *case.cotangents.items()):
        if len(blocks) != program.world:
            raise CaseError(f"{name!r} has {len(blocks)} blocks for {program.world} ranks")
    for name, given in program.inputs.items():
        shape = given_shape(case, name)
        if any((block.dtype, block.shape) != (given.dtype, shape) for block in case.inputs[name]):
            raise CaseError(f"blocks of {name!r} have the dtype {given.dtype} and the shape {list(shape)}")
        same = tuple(axis.name for axis in program.mesh if axis.name not in given.varying)
        for line in lines(program.mesh, same):
            if len({case.inputs[name][rank].bits for rank in line}) > 1:
                raise CaseError(f"blocks of {name!r} vary along {given.varying or 'no axis'}; those of {line} differ")


def _validate_tangents(case: TypedCase) -> None:
    if case.cotangents or case.batch or case.lowered or case.compiled:
        raise CaseError("a case has tangents, or cotangents, or levels, or is lowered or compiled")
    if set(case.tangents) != set(case.program.inputs):
        raise CaseError(f"the inputs are {sorted(case.program.inputs)}, and there are tangents {sorted(case.tangents)}")
    for name, blocks in case.tangents.items():
        kinds = [(block.dtype, block.shape) for block in blocks]
        if kinds != [(block.dtype, block.shape) for block in case.inputs[name]]:
            raise CaseError(f"the tangent of {name!r} has on each rank the dtype and the shape of its block")


def _validate_levels(case: TypedCase) -> None:
    if case.lowered or case.compiled:
        raise CaseError("a case has levels to map over or is lowered or compiled, not both")
    if case.cotangents:
        raise CaseError("a case has levels to map over or cotangents to pull back, not both")
    for number, level in enumerate(case.batch):
        if missing := set(level.inputs) - set(case.program.inputs):
            raise CaseError(f"level {level.name!r} maps {min(missing)!r}, which is no input")
        if not level.inputs:
            raise CaseError(f"level {level.name!r} maps no input; at least one has its axis")
        inner = case.batch[number + 1 :]
        for name, at in level.inputs.items():
            rank = len(case.program.inputs[name].shape) + sum(name in each.inputs for each in inner)
            if not 0 <= at <= rank:
                raise CaseError(f"level {level.name!r} maps axis {at} of {name!r}, which has axes 0 to {rank}")
        if level.result < 0:
            raise CaseError(f"level {level.name!r} puts its axis at {level.result} of results; it must be at least 0")
