"""What kernels are told of variables: numbers of a launch that follow from them, as expressions over their names.

The kernels of a graph with variables take their numbers as arguments (``Launch.generic``), so that one text serves all
values. Which of the numbers follow from a variable is seen by scheduling the graph for other values too: where a kernel
has the same instructions, each number is a sum of products of variables that all these schedules agree with. A kernel
that is another one for other values keeps its numbers as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from conformance.cases.graph.buffer import Bounds
from conformance.cases.graph.extent import Dim
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Body,
    Cast,
    Constant,
    Fetch,
    Instruction,
    Reduce,
    Store,
    Symbol,
)
from conformance.cases.schedule.schedule import Access, Binding, Item, Kernel, Schedule
from conformance.cases.tensor.tensor import Tensor, to_array

MOST_VARIABLES: Final = 2
"""Variables of a graph up to which it is scheduled for other values: four schedules, and one to check."""

TRIES: Final = 3
"""Other values of a variable that are tried, for one may make a kernel another: an extent of 1 has no axis."""

Polynomial = dict[tuple[str, ...], int]
"""Coefficients of products of variables; that of no variable is the constant."""

Bound = tuple[tuple[str, int], ...]

T = TypeVar("T")


class Unlike(Exception):
    """A kernel is another one for other values of the variables."""


def symbolic(made: Schedule, bound: Mapping[str, int], scheduled: Callable[[Mapping[str, int]], Schedule]) -> Schedule:
    """Return the schedule for ``bound`` in which kernels are told of variables, given those for other values."""
    free = [name for name, each in sorted(made.variables.items()) if each.low < each.high]
    if not 0 < len(free) <= MOST_VARIABLES:
        return made
    known: dict[Bound, Schedule] = {tuple(sorted(bound.items())): made}

    def at(values: Mapping[str, int]) -> Schedule:
        key = tuple(sorted({**bound, **values}.items()))
        if key not in known:
            known[key] = scheduled(dict(key))
        return known[key]

    items = list(made.items)
    untold = [number for number, item in enumerate(items) if isinstance(item, Kernel) and item.program]
    for others in _others(free, bound, made.variables):
        if not untold:
            break
        ends = [(name, bound[name], other) for name, other in zip(free, others, strict=True)]
        corners = [dict(zip(free, each, strict=True)) for each in product(*((a, b) for _, a, b in ends))]
        beside = [at(corner).items for corner in corners]
        if len({tuple(each.id for each in one) for one in beside}) > 1:
            continue
        for number in tuple(untold):
            try:
                items[number] = _told(items[number], [one[number] for one in beside], ends)
            except Unlike:
                continue
            untold.remove(number)
    return replace(made, items=tuple(items))


def _others(free: Sequence[str], bound: Mapping[str, int], bounds: Mapping[str, Bounds]) -> Iterator[tuple[int, ...]]:
    """Yield other values for all variables, the greatest first."""
    listed = [
        [value for value in range(bounds[name].high, bounds[name].low - 1, -1) if value != bound[name]] for name in free
    ]
    for turn in range(min(TRIES, max(map(len, listed)))):
        yield tuple(each[min(turn, len(each) - 1)] for each in listed)


Ends = Sequence[tuple[str, int, int]]


def _told(item: Item, beside: Sequence[Item], ends: Ends) -> Kernel:
    """Return a kernel with expressions where its numbers follow from variables; raise ``Unlike`` if it is another."""
    kernels = [each for each in beside if isinstance(each, Kernel)]
    if not isinstance(item, Kernel) or len(kernels) != len(beside):
        raise Unlike
    return _Telling(ends).kernel(item, kernels)


class _Telling:
    """Numbers of one kernel at several values of the variables, in the order of ``ends``, as expressions."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._spoken: set[str] = set()

    def kernel(self, item: Kernel, beside: Sequence[Kernel]) -> Kernel:
        """Return the kernel; raise ``Unlike`` if it is another one for other values."""
        accesses = tuple(
            self._access(one, each)
            for one, each in zip(item.accesses, _columns([one.accesses for one in beside]), strict=True)
        )
        bodies = tuple(
            self._body(one, each)
            for one, each in zip(item.bodies, _columns([one.bodies for one in beside]), strict=True)
        )
        values = {name: value for name, value, _ in self._ends}
        told = tuple(Binding(name, values[name]) for name in sorted(self._spoken))
        if not told:
            return item
        # Its numbers are no longer part of what is launched, but what they follow from is.
        maps = [each.map for each in accesses]
        name = hashlib.sha256(msgspec.json.encode((maps, bodies), order="deterministic")).hexdigest()[:16]
        return replace(item, accesses=accesses, bodies=bodies, variables=told, program=f"told_{name}")

    def _fit(self, numbers: Sequence[int]) -> Polynomial:
        found = fitted(numbers, self._ends)
        self._spoken.update(name for powers in found for name in powers)
        return found

    def _access(self, own: Access, beside: Sequence[Access]) -> Access:
        if len({(each.buffer, each.write, each.node, each.map is None) for each in beside}) > 1 or own.map is None:
            raise Unlike
        maps = _columns([each.map or () for each in beside])
        return replace(own, map=tuple(self._affine(each) for each in maps))

    def _affine(self, beside: Sequence[Affine]) -> Affine:
        if len({each.mask is None for each in beside}) > 1:
            raise Unlike
        masked = beside[0].mask is not None
        offset = self._fit([each.offset for each in beside])
        strides = [self._fit(each) for each in _columns([one.strides for one in beside])]
        powers = dict.fromkeys(power for each in strides for power in each if power)
        return Affine(
            extents=self._dims([each.extents for each in beside]),
            strides=tuple(each.get((), 0) for each in strides),
            offset=offset.get((), 0),
            variables={" * ".join(power): count for power, count in offset.items() if power},
            mask=tuple(
                (low, high) for low, high in (self._dims(each) for each in _columns([one.mask or () for one in beside]))
            )
            if masked
            else None,
            scales={" * ".join(power): tuple(each.get(power, 0) for each in strides) for power in powers},
        )

    def _dims(self, beside: Sequence[Sequence[Dim]]) -> tuple[Dim, ...]:
        return tuple(written(self._fit([int(each) for each in column])) for column in _columns(beside))

    def _body(self, own: Body, beside: Sequence[Body]) -> Body:
        place: list[int] = []
        lines: list[Instruction] = []
        columns = _columns([each.instructions for each in beside])
        for line, column in zip(own.instructions, columns, strict=True):
            if all(each == line for each in column):
                lines.append(_renumbered(line, place))
            else:
                self._constant(column, lines)
            place.append(len(lines) - 1)
        return replace(own, extents=self._dims([each.extents for each in beside]), instructions=tuple(lines))

    def _constant(self, column: Sequence[Instruction], lines: list[Instruction]) -> None:
        """Write a constant that follows from variables: a sum of products in int64, converted."""
        tensors = [each.value for each in column if isinstance(each, Constant)]
        dtype = tensors[0].dtype if tensors else ""
        if len(tensors) != len(column) or any(each.dtype != dtype for each in tensors):
            raise Unlike
        numbers = [to_array(each).item() for each in tensors]
        # No product of sizes is beyond these, and floats have them all as they are.
        if any(isinstance(each, complex) or not -(2**24) <= each <= 2**24 or each != int(each) for each in numbers):
            raise Unlike

        def add(line: Instruction) -> int:
            lines.append(line)
            return len(lines) - 1

        total: int | None = None
        for powers, count in self._fit([int(each) for each in numbers]).items():
            term: int | None = None if powers and count == 1 else add(_integer(count))
            for name in powers:
                symbol = add(Symbol(name=name))
                term = symbol if term is None else add(Alu(op="mul", of=(term, symbol)))
            assert term is not None  # a product of nothing has its count
            total = term if total is None else add(Alu(op="add", of=(total, term)))
        assert total is not None  # the numbers differ
        if dtype != "int64":
            add(Cast(of=total, dtype=dtype))


def fitted(numbers: Sequence[int], ends: Ends) -> Polynomial:
    """Return the sum of products of variables that has these numbers at all combinations of two values of each.

    The last variable of ``ends`` (name, first and second value) changes fastest. Raise ``Unlike`` if none is of whole
    numbers.
    """
    if not ends:
        return {(): numbers[0]} if numbers[0] else {}
    (name, first, second), *rest = ends
    half = len(numbers) // 2
    one, other = fitted(numbers[:half], rest), fitted(numbers[half:], rest)
    found: Polynomial = {}
    for powers in {**one, **other}:
        slope, left = divmod(other.get(powers, 0) - one.get(powers, 0), second - first)
        if left:
            raise Unlike
        found[name, *powers] = slope
        found[powers] = one.get(powers, 0) - slope * first
    return {powers: count for powers, count in sorted(found.items()) if count}


def written(found: Polynomial) -> Dim:
    """Return a sum of products as a number or an expression."""
    if not any(found):
        return found.get((), 0)
    terms = sorted(found.items(), key=lambda each: (each[1] < 0, not each[0], each[0]))
    text = ""
    for powers, count in terms:
        size = abs(count)
        term = " * ".join((*powers, *([str(size)] if size != 1 or not powers else [])))
        text += f" {'-' if count < 0 else '+'} {term}" if text else term if count > 0 else f"0 - {term}"
    return text


def _columns(rows: Sequence[Sequence[T]]) -> list[tuple[T, ...]]:
    """Return what stands at each place of all rows; raise ``Unlike`` if they are not equally long."""
    if len({len(each) for each in rows}) > 1:
        raise Unlike
    return list(zip(*rows, strict=True))


def _integer(number: int) -> Constant:
    return Constant(value=Tensor(dtype="int64", shape=(), bits=number.to_bytes(8, "little", signed=True).hex()))


def _renumbered(line: Instruction, place: Sequence[int]) -> Instruction:
    """Return an instruction that names those before it by their new numbers."""
    if isinstance(line, Alu):
        return replace(line, of=tuple(place[each] for each in line.of))
    if isinstance(line, Fetch):
        return replace(line, at=tuple(place[each] for each in line.at))
    if isinstance(line, Cast | Bitcast | Reduce | Store):
        return replace(line, of=place[line.of])
    return line
