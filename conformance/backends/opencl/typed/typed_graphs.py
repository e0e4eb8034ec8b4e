"""Typed programs, their transposes and their mapping over new axes, each as one graph that the engine runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from conformance.backends.base import Types, Unsupported
from conformance.backends.opencl.typed.backward import pulled
from conformance.backends.opencl.typed.forward import computed
from conformance.backends.opencl.typed.graph_builder import Blocks, Building
from conformance.backends.opencl.typed.graph_cache import Given, GraphCache, Values
from conformance.backends.opencl.typed.levels import entered, left, meeting
from conformance.backends.opencl.typed.pushforward import pushed
from conformance.backends.opencl.typed.states import StepStates, shown, typed
from conformance.cases.program.program import Axis, lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram


def types_and_values(program: TypedProgram, inputs: Given, kept: GraphCache) -> tuple[Types, dict[str, list[Array]]]:
    """Return the types of the values that steps make, and the blocks of each result; raise for an ill-typed program."""
    found = typed(program)

    def made(building: Building, given: Sequence[Values]) -> Values:
        values = computed(building, program, program.mesh, given[0])
        return {name: _shown(building, program.mesh, found, name, values[name]) for name in program.results}

    return shown(program, found), kept.results(("values", program), (inputs,), made)


def pullback(program: TypedProgram, inputs: Given, cotangents: Given, kept: GraphCache) -> dict[str, list[Array]]:
    """Return the cotangent of each input."""
    found = typed(program)

    def made(building: Building, given: Sequence[Values]) -> Values:
        values = computed(building, program, program.mesh, given[0])
        return pulled(building, program, found, values, given[1])

    return kept.results(("pulled", program), (inputs, cotangents), made)


def pushforward(program: TypedProgram, inputs: Given, tangents: Given, kept: GraphCache) -> dict[str, list[Array]]:
    """Return the tangent of each result; of an unreduced one the sum."""
    found = typed(program)

    def made(building: Building, given: Sequence[Values]) -> Values:
        changed = pushed(building, program, computed(building, program, program.mesh, given[0]), given[1])
        return {name: _shown(building, program.mesh, found, name, changed[name]) for name in program.results}

    return kept.results(("pushed", program), (inputs, tangents), made)


def batched(
    program: TypedProgram, levels: Sequence[Level], inputs: Given, kept: GraphCache, most: int
) -> dict[str, list[Array]]:
    """Return the results of a program mapped over levels; slices that meet are members, each on a device of its own.

    Raise ``Unsupported`` for more than ``most`` members and for what is started, of which no mapping is known.
    """
    if program.started:
        raise Unsupported("what is started is mapped over nothing")
    names = {level.name for level in levels}
    steps = tuple(replace(s, axes=tuple(axis for axis in s.axes if axis not in names)) for s in program.steps)
    found = typed(replace(program, steps=steps))
    members = meeting(program, levels)
    mesh = (*program.mesh, *(Axis(name=level.name, size=level.size) for level in members))
    count = math.prod(axis.size for axis in mesh)
    if count > most:
        raise Unsupported(f"{count} slices on ranks are outside the claims: 1 to {most}")
    behind = tuple(level.size for level in levels if level not in members)

    def made(building: Building, given: Sequence[Values]) -> Values:
        inside = {name: entered(building, name, blocks, levels, members) for name, blocks in given[0].items()}
        values = computed(building, program, mesh, inside, behind)
        return {
            name: left(building, _shown(building, mesh, found, name, values[name]), levels, members)
            for name in program.results
        }

    return kept.results(("batched", program, levels), (inputs,), made)


def _shown(
    building: Building, mesh: tuple[Axis, ...], found: Mapping[str, StepStates], name: str, blocks: Blocks
) -> Blocks:
    """Return what a value shows: its sum where it is still to be made."""
    states = found[name].result if name in found else {}
    pending = tuple(axis for axis, state in states.items() if state == "unreduced")
    if not pending:
        return blocks
    return building.meet("all_reduce", blocks, lines(mesh, pending), blocks.shape, {"op": "sum"})
