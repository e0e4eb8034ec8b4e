"""The transposes of the steps of a typed program as nodes, from the last to the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from conformance.backends.base import Unsupported
from conformance.backends.opencl.typed.forward import divided, joined, local_axes, number, runs, slices, written
from conformance.backends.opencl.typed.graph_builder import Blocks, Building
from conformance.backends.opencl.typed.states import StepStates
from conformance.cases.program.program import Groups, lines, rank_groups
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep


class NotLinearError(ValueError):
    """A step has no transpose."""


class Meeting(NamedTuple):
    """A step, the values it took, and the groups of its members; ``typed`` where values have types."""

    step: TypedStep
    operands: tuple[Blocks, ...]
    groups: Groups
    typed: bool
    invariant: bool


def pulled(
    building: Building,
    program: TypedProgram,
    found: Mapping[str, StepStates],
    values: Mapping[str, Blocks],
    cotangents: Mapping[str, Blocks],
) -> dict[str, Blocks]:
    """Return the cotangent of each input, where results have ``cotangents``."""
    held = dict(cotangents)
    states = {name: each.result for name, each in found.items()}
    for step in reversed(program.steps):
        given = held.pop(step.output, None)
        if given is None:
            continue
        for at, (name, back) in enumerate(
            zip(step.inputs, _back(building, program, step, states, values, given), strict=True)
        ):
            cast = found[step.output].operands[at]
            before = states[name] if name in states else _entering(program, name)
            # An automatic cast from invariant has for a transpose the sum along the axis; other casts move nothing.
            axes = tuple(axis for axis in cast if before[axis] == "invariant" and cast[axis] == "varying")
            total = back
            if program.checked and axes:
                total = building.meet("all_reduce", back, lines(program.mesh, axes), back.shape, {"op": "sum"})
            known = held.get(name)
            held[name] = total if known is None else building.alu("add", known, total)
    zeros = [0] * program.world
    return {name: held.get(name) or building.constant(values[name], zeros) for name in program.inputs}


def _entering(program: TypedProgram, name: str) -> dict[str, str]:
    varying = program.inputs[name].varying
    return {axis: "varying" if axis in varying else "invariant" for axis in program.names}


def _back(
    building: Building,
    program: TypedProgram,
    step: TypedStep,
    states: Mapping[str, Mapping[str, str]],
    values: Mapping[str, Blocks],
    given: Blocks,
) -> list[Blocks]:
    if not step.inputs:
        return []
    if step.op in ("done", "send"):
        raise NotLinearError("what is started has no transpose")
    if not (step.axes or step.op in LOCAL or step.attrs.get("local_axes")):
        return (
            [given]
            if len(step.inputs) == 1
            else [building.constant(values[step.inputs[0]], [0] * program.world), given]
        )
    if step.op not in BACK:
        raise Unsupported(f"no transpose of {step.op} is known")
    operand = states.get(step.inputs[0]) or _entering(program, step.inputs[0])
    meeting = Meeting(
        step,
        tuple(values[name] for name in step.inputs),
        rank_groups(program.mesh, step.axes, step.groups),
        program.checked,
        program.checked and bool(step.axes) and operand[step.axes[0]] == "invariant",
    )
    return BACK[step.op](building, meeting, given)


def _sum(building: Building, meeting: Meeting, given: Blocks) -> Blocks:
    return building.meet("all_reduce", given, meeting.groups, given.shape, {"op": "sum"})


def _cast(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    return [_sum(building, meeting, given) if meeting.invariant else given]


def _all_reduce(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    op, axes, shape = meeting.step.attrs["op"], local_axes(meeting.step), meeting.operands[0].shape
    if op not in ("sum", "mean"):
        raise NotLinearError(f"all_reduce {op} is not linear")
    back = given if meeting.typed else _sum(building, meeting, given)
    back = building.spread(back, axes, shape) if axes else back
    if op == "sum":
        return [back]
    sizes = {member: len(group) for group in meeting.groups for member in group}
    for axis in axes:
        sizes = {member: count * shape[axis] for member, count in sizes.items()}
    return [building.alu("div", back, building.constant(back, [sizes[member] for member in range(len(sizes))]))]


def _all_gather(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    step, shape = meeting.step, meeting.operands[0].shape
    axis, tiled, dtype = number(step, "axis"), bool(step.attrs["tiled"]), given.dtype
    attrs = {"op": "sum", "axis": axis, "tiled": tiled}
    if step.attrs["to"] != "invariant" or not meeting.typed:
        return [building.meet("reduce_scatter", given, meeting.groups, shape, attrs)]
    place = {member: at for group in meeting.groups for at, member in enumerate(group)}
    extent = shape[axis] if tiled else 1

    def piece(member: int) -> str:
        first = place[member] * extent
        pairs = tuple((first, first + extent) if at == axis else (0, all_) for at, all_ in enumerate(given.shape))
        cut = tuple(end - begin for begin, end in pairs)
        found = building.node("shrink", (given.nodes[member],), cut, dtype, member, arg=pairs)
        return found if tiled else building.node("reshape", (found,), shape, dtype, member)

    return [building.each(piece, shape, dtype, len(given.nodes))]


def _reduce_scatter(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    axis, tiled = number(meeting.step, "axis"), bool(meeting.step.attrs["tiled"])
    return [
        building.meet("all_gather", given, meeting.groups, meeting.operands[0].shape, {"axis": axis, "tiled": tiled})
    ]


def _all_to_all(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    split, concat = number(meeting.step, "concat_axis"), number(meeting.step, "split_axis")
    tiled, size = bool(meeting.step.attrs["tiled"]), len(meeting.groups[0])
    shape = joined(divided(given.shape, split, size, tiled=tiled), concat, size, tiled=tiled)
    return [
        building.meet(
            "all_to_all", given, meeting.groups, shape, {"split_axis": split, "concat_axis": concat, "tiled": tiled}
        )
    ]


def _permute(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    pairs = meeting.step.attrs.get("pairs")
    if pairs is None:
        sources = meeting.step.attrs["sources"]
        assert isinstance(sources, tuple)
        back = tuple(enumerate(sources))
    else:
        assert isinstance(pairs, tuple)
        back = tuple((pair[1], pair[0]) for pair in pairs if isinstance(pair, tuple))
    return [building.meet("permute", given, meeting.groups, given.shape, {"pairs": back})]


def _broadcast(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    root = number(meeting.step, "root")
    total, roots = _sum(building, meeting, given), {group[root] for group in meeting.groups}
    zeros = building.constant(given, [0] * len(given.nodes))
    nodes = (total.nodes[m] if m in roots else zeros.nodes[m] for m in range(len(given.nodes)))
    return [total._replace(nodes=tuple(nodes))]


def _ragged(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    """Return the sum of the copies of each row, and the rows of ``output`` that nothing was written over."""
    sent = slices(meeting.step, meeting.groups)
    operand, members = meeting.operands[0], len(given.nodes)
    owners = [written(sent, member, given.shape[0]) for member in range(members)]

    def rows_back(member: int) -> str:
        parts = []
        for receiver in range(members):
            for begin, end in runs(owners[receiver]):
                owner = owners[receiver][begin]
                if owner is not None and owner.sender == member:
                    rows = building.rows(given.nodes[receiver], given.shape, given.dtype, (begin, end), member)
                    first = owner.start + begin - owner.at
                    parts.append(building.put_at(rows, end - begin, first, operand, member))
        return building.total(parts, operand, member)

    def kept(member: int) -> str:
        parts = []
        for begin, end in runs(owners[member]):
            if owners[member][begin] is None:
                rows = building.rows(given.nodes[member], given.shape, given.dtype, (begin, end), member)
                parts.append(building.put_at(rows, end - begin, begin, given, member))
        return building.total(parts, given, member)

    return [
        building.each(rows_back, operand.shape, operand.dtype, members),
        building.each(kept, given.shape, given.dtype, members),
    ]


def _add(_building: Building, _meeting: Meeting, given: Blocks) -> list[Blocks]:
    return [given, given]


def _subtract(building: Building, _meeting: Meeting, given: Blocks) -> list[Blocks]:
    return [given, building.alu("neg", given)]


def _negate(building: Building, _meeting: Meeting, given: Blocks) -> list[Blocks]:
    return [building.alu("neg", given)]


def _multiply(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    left, right = meeting.operands
    return [building.alu("mul", given, right), building.alu("mul", given, left)]


def _local_sum(building: Building, meeting: Meeting, given: Blocks) -> list[Blocks]:
    return [building.spread(given, (number(meeting.step, "axis"),), meeting.operands[0].shape)]


def _maximum(_building: Building, _meeting: Meeting, _given: Blocks) -> list[Blocks]:
    raise NotLinearError("a maximum is not linear")


BACK: Final[dict[str, Callable[[Building, Meeting, Blocks], list[Blocks]]]] = {
    "add": _add,
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "broadcast": _broadcast,
    "cast": _cast,
    "maximum": _maximum,
    "multiply": _multiply,
    "negate": _negate,
    "permute": _permute,
    "recv": _permute,
    "ragged_all_to_all": _ragged,
    "reduce_scatter": _reduce_scatter,
    "shuffle": _permute,
    "subtract": _subtract,
    "sum": _local_sum,
}
"""The transpose of every operation that has an operand."""
