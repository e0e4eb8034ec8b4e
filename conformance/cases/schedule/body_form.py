"""Which index maps and kernel bodies are well formed: ranks, references, arities and dtypes fit."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.elementwise import ARITY, COMPARISONS, check_kind
from conformance.cases.graph.extent import Values, countable, evaluated, names_in, sizes
from conformance.cases.schedule.index_map import IndexMap, counted, names, strides_of
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Body,
    Cast,
    Constant,
    Fetch,
    Index,
    Instruction,
    Load,
    Reduce,
    Store,
    Symbol,
    sources,
)
from conformance.cases.schedule.schedule import Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY, kind


def check_map(where: str, index_map: IndexMap, most: Values, *, by_data: bool = False) -> None:
    """Raise ``ScheduleError`` unless the map has a rank, and no more points than can be enumerated.

    ``most`` is the greatest value of each variable. Where points are chosen ``by_data``, those that lie at the same
    place along all of an axis count once: of a table that is taken by index no more is looked at.
    """
    if not index_map:
        raise ScheduleError("form.C8", f"{where}: an index map without a single part")
    for name in sorted(names(index_map)):
        if name not in most:
            raise ScheduleError("form.C3", f"{where}: variable {name!r} is not declared")
    for number, affine in enumerate(index_map):
        rank = len(affine.extents)
        if len(affine.strides) != rank or (affine.mask is not None and len(affine.mask) != rank):
            raise ScheduleError("form.C8", f"{where}: {rank} extents, but not as many strides or ranges of the mask")
        if any(len(scale) != rank for scale in affine.scales.values()):
            raise ScheduleError("form.C8", f"{where}: {rank} extents, but not as many coefficients of the strides")
        shape = sizes(affine.extents, most)
        if not countable(counted(affine, shape) if by_data and number == 0 else shape):
            raise ScheduleError(
                "form.C8", f"{where}: extents {list(affine.extents)} are negative, too many or too large"
            )
        strides = strides_of(affine, most)
        reach = abs(affine.offset) + sum(abs(s) * max(e, 1) for s, e in zip(strides, shape, strict=True))
        if reach + sum(abs(c) * abs(evaluated(name, most)) for name, c in affine.variables.items()) >= 1 << 62:
            raise ScheduleError("form.C8", f"{where}: positions beyond 64 bits")


def check_bodies(where: str, item: Kernel, buffers: Mapping[str, Buffer]) -> None:
    """Raise ``ScheduleError`` unless every instruction fits the item's accesses and its own sources."""
    bound = {binding.name for binding in item.variables}
    spoken = {name for access in item.accesses for name in names(access.map or ())}
    spoken |= {name for body in item.bodies for name in _names(body)}
    for name in sorted(spoken - bound):
        raise ScheduleError("form.C3", f"{where}: variable {name!r} has no value in it")
    for number, body in enumerate(item.bodies):
        dtypes: list[str] = []
        for line, instruction in enumerate(body.instructions):
            place = f"{where}, body {number}, instruction {line}"
            taken = sources(instruction)
            if any(not 0 <= each < line or isinstance(body.instructions[each], Store) for each in taken):
                raise ScheduleError("form.C11", f"{place}: it takes {list(taken)}, not all values before it")
            try:
                dtypes.append(_dtype(instruction, body, item, dtypes, buffers))
            except ValueError as error:
                raise ScheduleError("form.C11", f"{place}: {error}") from None
    values = {binding.name: binding.value for binding in item.variables}
    for number, body in enumerate(item.bodies):
        if body.phase < 0 or not 0 <= body.groups <= len(body.extents):
            raise ScheduleError(
                "form.C8",
                f"{where}, body {number}: {body.phase} is no phase, or {body.groups} axes are no groups of its "
                f"{len(body.extents)}",
            )
        if not countable(sizes(body.extents, values)):
            raise ScheduleError(
                "form.C8",
                f"{where}, body {number}: extents {list(body.extents)} are negative, too many or too large",
            )


def dtypes_of(body: Body, item: Kernel, buffers: Mapping[str, Buffer]) -> tuple[str, ...]:
    """Return the dtype of each instruction of a well-formed body."""
    found: list[str] = []
    for instruction in body.instructions:
        found.append(_dtype(instruction, body, item, found, buffers))
    return tuple(found)


def _names(body: Body) -> set[str]:
    spoken = {name for extent in body.extents for name in names_in(extent)}
    return spoken | {each.name for each in body.instructions if isinstance(each, Symbol)}


def _dtype(instruction: Instruction, body: Body, item: Kernel, known: list[str], buffers: Mapping[str, Buffer]) -> str:
    """Return the dtype of an instruction; raise ``ValueError`` when it does not fit."""
    of = [known[source] for source in sources(instruction)]
    found = "int64"
    if isinstance(instruction, Load | Fetch | Store):
        found = _accessed(instruction, body, item, buffers)
        if isinstance(instruction, Fetch) and any(kind(dtype) != "integer" for dtype in of):
            raise ValueError(f"indices must be integers, these are {', '.join(of)}")
    elif isinstance(instruction, Constant):
        found = instruction.value.dtype
        if instruction.value.shape != ():
            raise ValueError(f"a constant has no axes, this one has the shape {list(instruction.value.shape)}")
    elif isinstance(instruction, Index):
        _axes((instruction.axis,), body)
    elif isinstance(instruction, Alu):
        found = _alu(instruction, of)
    elif isinstance(instruction, Reduce):
        _axes(instruction.axes, body)
        found = of[0]
        check_kind(instruction.op, found)
        if instruction.acc and (instruction.acc not in NUMPY or kind(instruction.acc) != kind(found)):
            raise ValueError(f"{instruction.acc!r} is no dtype in which {found} is folded")
    elif isinstance(instruction, Cast | Bitcast):
        found = instruction.dtype
        if found not in NUMPY:
            raise ValueError(f"unknown dtype {found!r}")
        if isinstance(instruction, Bitcast) and NUMPY[of[0]].itemsize != NUMPY[found].itemsize:
            raise ValueError(f"a bitcast from {of[0]} to {found} changes the width")
    return found


def _accessed(instruction: Load | Fetch | Store, body: Body, item: Kernel, buffers: Mapping[str, Buffer]) -> str:
    if not 0 <= instruction.access < len(item.accesses):
        raise ValueError(f"the item has no access number {instruction.access}")
    access, store = item.accesses[instruction.access], isinstance(instruction, Store)
    if access.write != store:
        raise ValueError(f"access {instruction.access} is a {'write' if access.write else 'read'}")
    more = len(instruction.at) if isinstance(instruction, Fetch) else 0
    found = access.map[0].extents if access.map is not None else ()
    if access.map is None or found[: len(found) - more] != body.extents or len(found) - more != len(body.extents):
        raise ValueError(
            f"the map of access {instruction.access} is not over the extents {list(body.extents)}"
            + (f" and {more} more" if more else "")
        )
    return buffers[access.buffer].dtype


def _axes(axes: tuple[int, ...], body: Body) -> None:
    if len(set(axes)) != len(axes) or any(not 0 <= axis < len(body.extents) for axis in axes):
        raise ValueError(f"axes {list(axes)} are no distinct axes of the extents {list(body.extents)}")


def _alu(instruction: Alu, of: list[str]) -> str:
    op, arity = instruction.op, ARITY[instruction.op]
    if len(of) != arity:
        raise ValueError(f"{op} takes {arity} values, got {len(of)}")
    if op == "where" and of.pop(0) != "bool":
        raise ValueError("the first value of where must be bool")
    if len(set(of)) > 1:
        raise ValueError(f"{op} of {', '.join(of)}: the values must have one dtype; a cast comes before")
    check_kind(op, of[0])
    return "bool" if op in COMPARISONS else of[0]
