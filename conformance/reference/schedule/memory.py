"""The memory a schedule runs in: bytes of each storage, buffers as arrays in them, and what items do to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.schedule.index_map import Indices
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Body,
    Cast,
    Constant,
    Fetch,
    Index,
    Load,
    Reduce,
    Store,
    Symbol,
    sources,
)
from conformance.cases.schedule.opaque_form import readers, writers
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.tensor import to_array
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.elementwise import apply, fold
from conformance.reference.graph.nodes import operation_of
from conformance.reference.operations import TABLE
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.points import crossing

POISON: Final = 0xA5
"""What every byte holds that nothing has written: a value that is never drawn. As a wide float it is too small to show
in a sum; who reads it at all is ``order.C1``'s to find."""


@dataclass(frozen=True)
class Memory:
    """The bytes of every storage, by id."""

    facts: Facts
    storages: dict[str, NDArray[np.uint8]]

    def array(self, buffer: str) -> Array:
        """Return a buffer as a flat array that shares the storage's bytes."""
        root, offset = self.facts.root(buffer)
        found = self.facts.buffers[buffer]
        return self.storages[root][offset : offset + found.size].view(NUMPY[found.dtype])

    def read(self, access: Access, values: Values) -> Array:
        """Return what an access reads: elements in the shape of its map, or those in its bytes, if they are whole."""
        array = self.array(access.buffer)
        if access.map is not None:
            return _taken(array, *self.facts.elements(access, values))
        if access.ranges is None:
            return array.copy()
        parts = [array.view(np.uint8)[start:stop] for start, stop in access.ranges]
        found = np.concatenate([*parts, np.empty(0, np.uint8)])
        return found if found.size % array.itemsize else found.view(array.dtype)

    def write(self, access: Access, content: Array, values: Values) -> None:
        """Write ``content``, element by element or byte by byte, where an access says."""
        array = self.array(access.buffer)
        if access.map is not None:
            found, valid = self.facts.elements(access, values)
            array[found[valid]] = content.reshape(-1).view(array.dtype).reshape(found.shape)[valid]
            return
        flat, at = np.ascontiguousarray(content).reshape(-1).view(np.uint8), 0
        for start, stop in ((0, array.nbytes),) if access.ranges is None else access.ranges:
            array.view(np.uint8)[start:stop] = flat[at : at + stop - start]
            at += stop - start


def perform(memory: Memory, leaf: Item, number: int) -> None:
    """Do what leaf ``number`` does.

    Raise ``ScheduleError`` for a copy or a collective that does not fit its operation, and past the end of a buffer.
    """
    try:
        _perform(memory, leaf, number)
    except IndexError as error:
        raise ScheduleError("bodies.C4", f"{memory.facts.name(number)} touches what no buffer has: {error}") from None


def _perform(memory: Memory, leaf: Item, number: int) -> None:
    values = memory.facts.bound(leaf)
    if isinstance(leaf, Copy):
        try:
            source, target = sorted(leaf.accesses, key=lambda access: access.write)
            memory.write(target, memory.read(source, values), values)
        except ValueError as error:
            raise ScheduleError("copies.C3", f"item {leaf.id!r} copies nothing: {error}") from None
    elif isinstance(leaf, Collective):
        try:
            with np.errstate(all="ignore"):
                _meet(memory, leaf, values)
        except (TypeError, ValueError) as error:
            raise ScheduleError("form.C9", f"item {leaf.id!r} ({leaf.op}): {error}") from None
    elif isinstance(leaf, Kernel):
        for body in sorted(leaf.bodies, key=lambda each: each.phase):
            for fixed in _points(memory.facts, leaf, number, body, values):
                _run(memory, leaf, body, values, fixed)


def _meet(memory: Memory, leaf: Collective, values: Values) -> None:
    """Do an opaque collective; raise ``TypeError`` or ``ValueError`` where it does not fit its operation."""
    operation = operation_of(leaf.op)
    if operation is None:
        raise ValueError("it is no operation of the specification")
    count, reading, writing = len(leaf.participants), readers(leaf), writers(leaf)
    written = leaf.accesses[len(leaf.accesses) - len(writing) :]
    operands = [
        _blocks(memory, leaf.accesses[number * len(reading) :], reading, written, count, values)
        for number in range(TABLE[leaf.op].operands)
    ]
    results = operation(*operands, **leaf.attrs, groups=(tuple(range(count)),)) or ()
    for access, position in zip(written, writing, strict=True):
        received, wanted, device = (
            np.asarray(results[position]),
            memory.read(access, values),
            leaf.participants[position],
        )
        if received.dtype == np.object_ or received.nbytes != wanted.nbytes:
            raise ValueError(f"{device} receives {received.nbytes} bytes, and writes {wanted.nbytes}")
        memory.write(access, received, values)


def _blocks(
    memory: Memory,
    taken: Sequence[Access],
    reading: Sequence[int],
    written: Sequence[Access],
    count: int,
    values: Values,
) -> list[Array]:
    """Return a block for every member: what it reads, and for who reads nothing one that is like the others'."""
    found = {position: memory.read(access, values) for position, access in zip(reading, taken, strict=False)}
    like = memory.read(written[0], values) if not found else next(iter(found.values()))
    return [found.get(position, like) for position in range(count)]


def _points(facts: Facts, leaf: Kernel, number: int, body: Body, values: Values) -> Iterator[tuple[slice, ...]]:
    """Yield what to compute at once of the points: all of them, or one by one where one reads what another writes."""
    own = facts.touches[number] if number in facts.in_place else ()
    meeting = any(
        crossing(facts, number, read, written) is not None
        for written in own
        if written.write
        for read in own
        if not read.write
    )
    shape = sizes(body.extents, values)
    stores = [leaf.accesses[each.access].map for each in body.instructions if isinstance(each, Store)]
    reduced = {axis for each in body.instructions if isinstance(each, Reduce) for axis in each.axes}
    if not meeting or not stores:
        yield (slice(None),) * len(shape)
        return
    for point in product(*(range(1 if axis in reduced else extent) for axis, extent in enumerate(shape))):
        yield tuple(slice(None) if axis in reduced else slice(at, at + 1) for axis, at in enumerate(point))


def _run(memory: Memory, leaf: Kernel, body: Body, values: Values, part: tuple[slice, ...]) -> None:
    """Compute the instructions at the points of ``part``, and store."""
    shape = np.empty(sizes(body.extents, values), np.bool_)[part].shape
    found: list[Any] = []
    for each in body.instructions:
        of = [found[source] for source in sources(each)]
        result: Any = None
        if isinstance(each, Load):
            result = _load(memory, leaf.accesses[each.access], values, part)
        elif isinstance(each, Fetch):
            result = _fetch(memory, leaf, leaf.accesses[each.access], of, values, part)
        elif isinstance(each, Constant):
            result = np.broadcast_to(to_array(each.value), shape)
        elif isinstance(each, Symbol):
            result = np.full(shape, values[each.name], np.int64)
        elif isinstance(each, Index):
            start = part[each.axis].start or 0
            lead = [-1 if axis == each.axis else 1 for axis in range(len(shape))]
            result = np.broadcast_to(np.arange(start, start + shape[each.axis]).reshape(lead), shape)
        elif isinstance(each, Alu):
            result = apply(each.op, of)
        elif isinstance(each, Cast):
            result = cast(of[0], each.dtype)
        elif isinstance(each, Bitcast):
            result = np.ascontiguousarray(of[0]).view(NUMPY[each.dtype])
        elif isinstance(each, Reduce):
            result = np.broadcast_to(np.expand_dims(_folded(each, of[0]), each.axes), shape)
        elif isinstance(each, Store):
            _store(memory, leaf.accesses[each.access], of[0], values, part)
        found.append(result)


def _folded(each: Reduce, values: Array) -> Array:
    """Return the fold of some axes, in the dtype in which the instruction accumulates."""
    if not each.acc:
        return fold(each.op, values, each.axes)
    return cast(fold(each.op, cast(values, each.acc), each.axes), values.dtype.name)


def _load(memory: Memory, access: Access, values: Values, part: tuple[slice, ...]) -> Array:
    found, valid = memory.facts.elements(access, values)
    return _taken(memory.array(access.buffer), found[part], valid[part])


def _taken(array: Array, found: Indices, valid: NDArray[np.bool_]) -> Array:
    """Return some elements, zeros where they are not ``valid``."""
    if valid.all():
        return np.asarray(array[found])
    out = np.zeros(found.shape, array.dtype)
    out[valid] = array[found[valid]]
    return out


def _fetch(
    memory: Memory, leaf: Kernel, access: Access, at: Sequence[Array], values: Values, part: tuple[slice, ...]
) -> Array:
    """Return the elements that data choose; raise ``ScheduleError`` for an index outside its axis."""
    array = memory.array(access.buffer)
    found, valid = memory.facts.elements(access, values)
    found, valid = found[part], valid[part]
    chosen = [np.asarray(each).astype(np.int64) for each in at]
    for each, extent in zip(chosen, found.shape[len(part) :], strict=True):
        if ((each < 0) | (each >= extent)).any():
            wrong = each[(each < 0) | (each >= extent)].reshape(-1)[0]
            raise ScheduleError(
                "bodies.C7", f"item {leaf.id!r} takes element {wrong} of an axis of {extent} of {access.buffer!r}"
            )
    points = np.indices(chosen[0].shape) if chosen else ()
    at = (*points, *chosen)
    return _taken(array, found[at], valid[at])


def _store(memory: Memory, access: Access, value: Array, values: Values, part: tuple[slice, ...]) -> None:
    found, valid = (each[part] for each in memory.facts.elements(access, values))
    with np.errstate(all="ignore"):  # what is stored in another dtype is the business of ``bodies.C3``
        memory.array(access.buffer)[found[valid]] = value[valid]
