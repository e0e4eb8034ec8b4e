"""The steps of a typed program as nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from conformance.backends.opencl.typed.graph_builder import Blocks, Building, Shape
from conformance.cases.program.program import Axis, Groups, rank_groups
from conformance.cases.types.typed_program import TypedProgram, TypedStep

ALU: Final = {"add": "add", "subtract": "sub", "multiply": "mul", "maximum": "max", "negate": "neg"}


class Slice(NamedTuple):
    """What a ragged exchange moves: ``rows`` rows from ``start`` on ``sender`` to ``at`` on ``receiver``."""

    sender: int
    receiver: int
    start: int
    at: int
    rows: int


def computed(
    building: Building,
    program: TypedProgram,
    mesh: tuple[Axis, ...],
    inputs: Mapping[str, Blocks],
    behind: Shape = (),
) -> dict[str, Blocks]:
    """Return every value of a program whose members are those of ``mesh``, with the axes ``behind`` its own."""
    values = dict(inputs)
    for step in program.steps:
        values[step.output] = computed_step(building, mesh, step, [values[name] for name in step.inputs], behind)
    return values


def computed_step(
    building: Building, mesh: tuple[Axis, ...], step: TypedStep, given: list[Blocks], behind: Shape = ()
) -> Blocks:
    """Return what one step gives, with the axes ``behind`` its own."""
    if step.op in ALU:
        return building.alu(ALU[step.op], *given)
    if step.op == "sum":
        return building.summed(given[0], number(step, "axis"))
    groups = rank_groups(mesh, step.axes, step.groups)
    if step.op == "axis_index":
        place = {member: at for group in groups for at, member in enumerate(group)}
        none = Blocks(tuple("" for _ in place), behind, "int32")
        return building.constant(none, [place[member] for member in range(len(place))])
    if step.op in ("cast", "done", "send") or not (step.axes or step.attrs.get("local_axes")):
        return given[-1]
    if step.op == "ragged_all_to_all":
        return _ragged(building, slices(step, groups, _rows_before(step, mesh, len(groups[0]))), *given)
    attrs: dict[str, Any] = {name: value for name, value in step.attrs.items() if name != "to"}
    op = "permute" if step.op == "recv" else step.op  # what was sent is there as long as its token
    return building.meet(op, given[0], groups, _shape(step, given[0].shape, len(groups[0])), attrs)


def number(step: TypedStep, name: str) -> int:
    """Return an attribute that is a number."""
    value = step.attrs[name]
    assert isinstance(value, int)
    return value


def local_axes(step: TypedStep) -> tuple[int, ...]:
    """Return the local axes that a reduction is over too, in order."""
    value = step.attrs.get("local_axes", ())
    assert isinstance(value, tuple)
    return tuple(sorted(axis for axis in value if isinstance(axis, int)))


def _shape(step: TypedStep, shape: Shape, size: int) -> Shape:
    """Return the shape of what a collective over groups of ``size`` gives."""
    if step.op == "all_reduce":
        return tuple(extent for axis, extent in enumerate(shape) if axis not in local_axes(step))
    if step.op == "all_gather":
        return joined(shape, number(step, "axis"), size, tiled=bool(step.attrs["tiled"]))
    if step.op == "reduce_scatter":
        return divided(shape, number(step, "axis"), size, tiled=bool(step.attrs["tiled"]))
    if step.op == "all_to_all":
        tiled = bool(step.attrs["tiled"])
        piece = divided(shape, number(step, "split_axis"), size, tiled=tiled)
        return joined(piece, number(step, "concat_axis"), size, tiled=tiled)
    return shape


def joined(shape: Shape, axis: int, size: int, *, tiled: bool) -> Shape:
    """Return the shape of ``size`` blocks one behind the other along an axis, or along a new one."""
    return (*shape[:axis], *((shape[axis] * size, *shape[axis + 1 :]) if tiled else (size, *shape[axis:])))


def divided(shape: Shape, axis: int, size: int, *, tiled: bool) -> Shape:
    """Return the shape of one of ``size`` pieces along an axis, which untiled ones lose."""
    return (*shape[:axis], *((shape[axis] // size,) if tiled else ()), *shape[axis + 1 :])


def _rows_before(step: TypedStep, mesh: tuple[Axis, ...], members: int) -> Callable[[int], int]:
    """Return how many rows of a table are of earlier slices of a level, for each member of a wide mesh."""
    names = [axis.name for axis in mesh]
    if step.attrs.get("level") not in names:
        return lambda _: 0
    at = names.index(str(step.attrs["level"]))
    behind = math.prod(axis.size for axis in mesh[at + 1 :])
    return lambda member: members * (member // behind % mesh[at].size)


def slices(step: TypedStep, groups: Groups, before: Callable[[int], int] = lambda _: 0) -> list[Slice]:
    """Return the slices of a ragged exchange, in the order in which they are written.

    ``before`` the rows of a member lie so many of others.
    """
    starts, counts, places = (step.attrs[name] for name in ("input_offsets", "send_sizes", "output_offsets"))
    assert isinstance(starts, tuple)
    assert isinstance(counts, tuple)
    assert isinstance(places, tuple)
    found = []
    for group in groups:
        for q, sender in enumerate(group):
            own = before(sender) + q
            rows = zip(starts[own], counts[own], places[own], strict=True)  # type: ignore[arg-type]  # rows, by the domain
            for at, (start, count, place) in enumerate(rows):
                each = len(starts[q]) // len(group)  # type: ignore[arg-type]  # rows, by the domain
                found.append(Slice(sender, group[at // each], start, place, count))
    return [each for each in found if each.rows]


def written(all_slices: list[Slice], receiver: int, rows: int) -> list[Slice | None]:
    """Return for each row of a receiver's block which slice is written there last."""
    found: list[Slice | None] = [None] * rows
    for each in all_slices:
        if each.receiver == receiver:
            found[each.at : each.at + each.rows] = [each] * each.rows
    return found


def runs(owners: list[Slice | None]) -> list[tuple[int, int]]:
    """Return the spans of rows of one owner."""
    edges = [at for at in range(len(owners)) if at == 0 or owners[at] is not owners[at - 1]]
    ends = [*edges[1:], len(owners)] if owners else []
    return list(zip(edges, ends, strict=True))


def _ragged(building: Building, sent: list[Slice], operand: Blocks, output: Blocks) -> Blocks:
    """Return the rows of each output that stay, and those that arrive, each padded to a block of its own, added."""

    def block(member: int) -> str:
        owners, parts = written(sent, member, output.shape[0]), []
        for begin, end in runs(owners):
            owner = owners[begin]
            if owner is None:
                span = (begin, end)
                rows = building.rows(output.nodes[member], output.shape, output.dtype, span, member)
            else:
                first = owner.start + begin - owner.at
                span = (first, first + end - begin)
                rows = building.rows(operand.nodes[owner.sender], operand.shape, operand.dtype, span, member)
            parts.append(building.put_at(rows, end - begin, begin, output, member))
        return building.total(parts, output, member)

    return building.each(block, output.shape, output.dtype, len(output.nodes))
