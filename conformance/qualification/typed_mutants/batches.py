"""Programs mapped over new axes in wrong ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.program.program import Axis
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.reference.transforms import batching as right
from conformance.reference.types.values import evaluate, visible

Blocks = list[Array]
ROOM: Final = "conformance.reference.transforms.batching."


def _steps(change: Callable[[TypedCase, TypedStep], TypedStep]) -> Callable[[TypedCase], TypedCase]:
    """Return the change of a case's steps, of those that are mapped over levels."""

    def changed(case: TypedCase) -> TypedCase:
        if not case.batch:
            return case
        steps = tuple(change(case, step) for step in case.program.steps)
        return replace(case, program=replace(case.program, steps=steps))

    return changed


def _fewer(*ops: str, keep: str) -> Callable[[TypedCase], TypedCase]:
    """Return the change of steps that name levels and mesh axes together: only ``keep`` of them are left."""

    def change(case: TypedCase, step: TypedStep) -> TypedStep:
        levels = {level.name for level in case.batch}
        named = [axis for axis in step.axes if (axis in levels) == (keep == "levels")]
        return replace(step, axes=tuple(named)) if step.op in ops and named else step

    return _steps(change)


def _in_order(case: TypedCase, step: TypedStep) -> TypedStep:
    order = [axis.name for axis in case.program.mesh] + [level.name for level in case.batch]
    return replace(step, axes=tuple(sorted(step.axes, key=order.index)))


def _mesh_only(case: TypedCase, step: TypedStep) -> TypedStep:
    levels = {level.name for level in case.batch}
    gone = set(step.axes) <= levels and step.op == "all_reduce" and not step.attrs.get("local_axes")
    return replace(step, axes=()) if gone else step


def _no_groups(_: TypedCase, step: TypedStep) -> TypedStep:
    if step.groups is None:
        return step
    size = len(step.groups[0])
    order = range(sum(map(len, step.groups)))
    return replace(step, groups=tuple(tuple(order[at : at + size]) for at in range(0, len(order), size)))


def _levels(change: Callable[[Level], Level]) -> Callable[[TypedCase], TypedCase]:
    return lambda case: replace(case, batch=tuple(map(change, case.batch)))


def _mapped_first(name: str, blocks: Blocks, levels: Sequence[Level]) -> Blocks:
    def first(level: Level) -> Level:
        fits = name not in level.inputs or blocks[0].shape[0] == level.size
        return replace(level, inputs={**level.inputs, name: 0}) if fits and name in level.inputs else level

    changed = [first(level) for level in levels]
    found, wanted = right_sliced(name, blocks, changed), right_sliced(name, blocks, levels)
    return found if found[0].shape == wanted[0].shape else wanted


def _unmapped_once(name: str, blocks: Blocks, levels: Sequence[Level]) -> Blocks:
    """Give an operand that is not mapped to the first slice, and zeros to the others."""
    found = right_sliced(name, blocks, levels)
    if any(name in level.inputs for level in levels):
        return found
    each = len(found) // len(blocks)
    return [block if at % each == 0 else np.zeros_like(block) for at, block in enumerate(found)]


def _first_slice(name: str, blocks: Blocks, levels: Sequence[Level]) -> Blocks:
    """Give the first slice of the innermost level to all."""
    found, size = right_sliced(name, blocks, levels), levels[-1].size
    return [found[at - at % size] for at in range(len(found))]


def _stacked_first(slices: Blocks, levels: Sequence[Level]) -> Blocks:
    found = right_stacked(slices, [replace(level, result=0) for level in levels])
    wanted = right_stacked(slices, levels)
    return found if found[0].shape == wanted[0].shape else wanted


def _stacked_backwards(slices: Blocks, levels: Sequence[Level]) -> Blocks:
    size = levels[-1].size
    turned = [slices[at - at % size + size - 1 - at % size] for at in range(len(slices))]
    return right_stacked(turned, levels)


def _swapped(name: str, blocks: Blocks, levels: Sequence[Level]) -> Blocks:
    """Read the slices of two levels in the other order."""
    found = right_sliced(name, blocks, levels)
    if len(levels) < 2:
        return found
    outer, inner = levels[0].size, levels[1].size
    each = outer * inner
    return [found[at - at % each + (at % each % outer) * inner + at % each // outer] for at in range(len(found))]


right_sliced, right_stacked = right.sliced, right.stacked


def _last_copied(name: str, blocks: Blocks, levels: Sequence[Level]) -> Blocks:
    """Forget the last slice: the one before stands for it."""
    found, size = right_sliced(name, blocks, levels), levels[-1].size
    return [found[at - 1] if size > 1 and at % size == size - 1 else found[at] for at in range(len(found))]


def _reversed_members(program: TypedProgram, inputs: Mapping[str, Any]) -> dict[str, Blocks]:
    """Number the slices of the innermost level from the last one, where a step asks for numbers."""
    values = evaluate(program, inputs)
    innermost: Axis = program.mesh[-1]
    for step in program.steps:
        if step.op == "axis_index" and step.axes == (innermost.name,):
            values[step.output] = [np.asarray(innermost.size - 1 - block, block.dtype) for block in values[step.output]]
    return values


def _pending_of_one_slice(program: TypedProgram, given: AxisType, blocks: Blocks) -> Blocks:
    """Show for every slice of the innermost level the sum of the first one's terms."""
    found, size = visible(program, given, blocks), program.mesh[-1].size
    return [found[at - at % size] for at in range(len(found))] if given.unreduced else found


def _scatter_axis(_: TypedCase, step: TypedStep) -> TypedStep:
    """JAX 0.10.2 takes a scatter's axis for one further on, where the mapped one is behind it; here one less."""
    axis = step.attrs.get("axis")
    if step.op != "reduce_scatter" or not isinstance(axis, int) or not axis or not step.attrs["tiled"]:
        return step
    return replace(step, attrs={**step.attrs, "axis": axis - 1})


def _first_rows(_: TypedCase, step: TypedStep) -> TypedStep:
    return replace(step, attrs={name: value for name, value in step.attrs.items() if name != "level"})


def _noise(case: TypedCase) -> TypedCase:
    """Leave the last element of a mapped input out: it is zero."""
    if not case.batch:
        return case
    name = next(iter(case.batch[0].inputs))
    blocks = []
    for block in case.inputs[name]:
        array = to_array(block).copy()
        array.reshape(-1)[-1:] = 0
        blocks.append(from_array(array))
    return replace(case, inputs={**case.inputs, name: tuple(blocks)})


MUTANTS: Final = (
    TypedMutant(
        "PermuteDropsTheLevel",
        "JAX: pairs are positions along the mesh axes alone.",
        case=_fewer("permute", "shuffle", keep="mesh"),
    ),
    TypedMutant("IndexOfTheLevel", "JAX: the number of the slice alone.", case=_fewer("axis_index", keep="levels")),
    TypedMutant("SumDropsTheLevel", "A sum over both is over the mesh.", case=_fewer("all_reduce", keep="mesh")),
    TypedMutant("SumDropsTheMesh", "A sum over both is over slices.", case=_fewer("all_reduce", keep="levels")),
    TypedMutant("AxesInMeshOrder", "The order in which axes are named is lost.", case=_steps(_in_order)),
    TypedMutant("NoSumOverSlices", "A reduction over a level does nothing.", case=_steps(_mesh_only)),
    TypedMutant("MappedGroupsInOrder", "Groups are of positions in order.", case=_steps(_no_groups)),
    TypedMutant("RowsOfTheFirstSlice", "Every slice has the offsets of the first.", case=_steps(_first_rows)),
    TypedMutant("ScatterAxisShifted", "The axis of a scatter is one less.", case=_steps(_scatter_axis)),
    TypedMutant("LastElementLost", "The last element of what is mapped is zero.", case=_noise),
    TypedMutant("MapsTheFirstAxis", "Axis 0 is mapped.", {ROOM + "sliced": _mapped_first}),
    TypedMutant("UnmappedOnce", "What is not mapped is in slice 0.", {ROOM + "sliced": _unmapped_once}),
    TypedMutant("FirstSliceForAll", "Every slice is the first.", {ROOM + "sliced": _first_slice}),
    TypedMutant("LastSliceForgotten", "The last slice is the one before.", {ROOM + "sliced": _last_copied}),
    TypedMutant("LevelsSwapped", "Two levels are read in the other order.", {ROOM + "sliced": _swapped}),
    TypedMutant("ResultsFirst", "Axis 0 of a result is mapped.", {ROOM + "stacked": _stacked_first}),
    TypedMutant("ResultsBackwards", "The slices of a result are turned.", {ROOM + "stacked": _stacked_backwards}),
    TypedMutant("PendingOfOneSlice", "A sum to be made is slice 0's.", {ROOM + "visible": _pending_of_one_slice}),
    TypedMutant("SlicesCountBackwards", "Numbers from the last slice.", {ROOM + "evaluate": _reversed_members}),
)
