"""Typed programs, their transposes and their mapping over new axes, each as one graph that the engine runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

from msgspec.structs import replace

from conformance.backends.base import Types, Unsupported
from conformance.backends.opencl.typed.backward import pulled
from conformance.backends.opencl.typed.forward import computed
from conformance.backends.opencl.typed.graph_builder import Blocks, Building, Shape
from conformance.backends.opencl.typed.graph_cache import Given, Kept, Values
from conformance.backends.opencl.typed.pushforward import pushed
from conformance.backends.opencl.typed.states import Found, shown, typed
from conformance.cases.program.program import Axis, lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram


def types_and_values(program: TypedProgram, inputs: Given, kept: Kept) -> tuple[Types, dict[str, list[Array]]]:
    """Return the types of the values that steps make, and the blocks of each result; raise for an ill-typed program."""
    found = typed(program)

    def made(building: Building, given: Sequence[Values]) -> Values:
        values = computed(building, program, program.mesh, given[0])
        return {name: _shown(building, program.mesh, found, name, values[name]) for name in program.results}

    return shown(program, found), kept.results(("values", program), (inputs,), made)


def pullback(program: TypedProgram, inputs: Given, cotangents: Given, kept: Kept) -> dict[str, list[Array]]:
    """Return the cotangent of each input."""
    found = typed(program)

    def made(building: Building, given: Sequence[Values]) -> Values:
        values = computed(building, program, program.mesh, given[0])
        return pulled(building, program, found, values, given[1])

    return kept.results(("pulled", program), (inputs, cotangents), made)


def pushforward(program: TypedProgram, inputs: Given, tangents: Given, kept: Kept) -> dict[str, list[Array]]:
    """Return the tangent of each result; of an unreduced one the sum."""
    found = typed(program)

    def made(building: Building, given: Sequence[Values]) -> Values:
        changed = pushed(building, program, computed(building, program, program.mesh, given[0]), given[1])
        return {name: _shown(building, program.mesh, found, name, changed[name]) for name in program.results}

    return kept.results(("pushed", program), (inputs, tangents), made)


def batched(
    program: TypedProgram, levels: Sequence[Level], inputs: Given, kept: Kept, most: int
) -> dict[str, list[Array]]:
    """Return the results of a program whose slices are members too, each on a device of its own.

    Raise ``Unsupported`` for more than ``most`` members and for what is started, of which no mapping is known.
    """
    if program.started:
        raise Unsupported("what is started is mapped over nothing")
    names = {level.name for level in levels}
    steps = tuple(replace(s, axes=tuple(axis for axis in s.axes if axis not in names)) for s in program.steps)
    found = typed(replace(program, steps=steps))
    mesh = (*program.mesh, *(Axis(name=level.name, size=level.size) for level in levels))
    members = math.prod(axis.size for axis in mesh)
    if members > most:
        raise Unsupported(f"{members} slices on ranks are outside the claims: 1 to {most}")

    def made(building: Building, given: Sequence[Values]) -> Values:
        sliced = {name: _sliced(building, name, blocks, levels) for name, blocks in given[0].items()}
        values = computed(building, program, mesh, sliced)
        return {
            name: _stacked(building, _shown(building, mesh, found, name, values[name]), levels)
            for name in program.results
        }

    return kept.results(("batched", program, levels), (inputs,), made)


def _shown(building: Building, mesh: tuple[Axis, ...], found: Mapping[str, Found], name: str, blocks: Blocks) -> Blocks:
    """Return what a value shows: its sum where it is still to be made."""
    states = found[name].result if name in found else {}
    pending = tuple(axis for axis, state in states.items() if state == "unreduced")
    if not pending:
        return blocks
    return building.meet("all_reduce", blocks, lines(mesh, pending), blocks.shape, {"op": "sum"})


def _sliced(building: Building, name: str, blocks: Blocks, levels: Sequence[Level]) -> Blocks:
    """Return the slice of every member, on its device."""
    places = list(product(*(range(level.size) for level in levels)))
    nodes, shape = [], blocks.shape
    for rank, whole in enumerate(blocks.nodes):
        for number, place in enumerate(places):
            node, shape = whole, blocks.shape
            for level, at in zip(levels, place, strict=True):
                if name in level.inputs:
                    node, shape = _slice(building, node, shape, blocks.dtype, level.inputs[name], at, rank)
            nodes.append(building.node("copy", (node,), shape, blocks.dtype, rank * len(places) + number))
    return Blocks(tuple(nodes), shape, blocks.dtype)


def _slice(building: Building, node: str, shape: Shape, dtype: str, axis: int, at: int, rank: int) -> tuple[str, Shape]:
    pairs = tuple((at, at + 1) if number == axis else (0, extent) for number, extent in enumerate(shape))
    thin = (*shape[:axis], 1, *shape[axis + 1 :])
    rest = (*shape[:axis], *shape[axis + 1 :])
    node = building.node("shrink", (node,), thin, dtype, rank, arg=pairs)
    return building.node("reshape", (node,), rest, dtype, rank), rest


def _stacked(building: Building, slices: Blocks, levels: Sequence[Level]) -> Blocks:
    """Return a block a rank of the slices of its members: the first of them gathers, the innermost level first."""
    nodes, members, shape = slices.nodes, tuple(range(len(slices.nodes))), slices.shape
    for level in reversed(levels):
        shape = (*shape[: level.result], level.size, *shape[level.result :])
        nodes = tuple(
            building.gathered(
                nodes[at : at + level.size], members[at : at + level.size], level.result, shape, slices.dtype
            )
            for at in range(0, len(nodes), level.size)
        )
        members = members[:: level.size]
    return Blocks(nodes, shape, slices.dtype)
