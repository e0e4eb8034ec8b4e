"""A fused computation as a neutral body: each value at the points of what is stored, from the root to its operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.bodies.instructions import At, Lines, level
from conformance.backends.index_fit import fit
from conformance.backends.jax.hlo.module import Computation, Instruction, Module, Shape, literal
from conformance.backends.jax.hlo.words import BINARY, COMPARED, FOLDS, NEUTRAL, UNARY
from conformance.cases.schedule.index_map import IndexMap
from conformance.cases.schedule.kernel_body import Bitcast, Body, Load, Store, Symbol
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY, Array, kind


@dataclass(frozen=True)
class Source:
    """What an operand of a kernel is: a ``buffer``, a ``constant`` or a ``variable``, in the shape that it has there.

    ``dtype`` is that of the buffer, which may show the bytes of another.
    """

    shape: Shape
    buffer: str = ""
    dtype: str = ""
    constant: Array | None = None
    variable: str = ""


class Translation:
    """The ``body`` of one value that a kernel stores. ``accesses`` are those of the kernel, and grow.

    ``sources`` has what each parameter of the computation stands for, or each operand of a single instruction.
    """

    def __init__(
        self, module: Module, computation: Computation, sources: dict[int, Source], accesses: list[Access]
    ) -> None:
        """Say whose values are meant."""
        self._module, self._computation = module, computation
        self._sources, self._accesses = sources, accesses

    def stored(self, root: Instruction, buffer: str, phase: int = 0) -> Body:
        """Return the body that stores all of a value in a buffer; raise ``Unsupported`` where there is no such form."""
        self._begin(root.shape.extents)
        points = self._lines.points()
        return self._finished(self._line(root, points), buffer, place(root.shape, points), phase)

    def stored_at(self, update: Instruction, at: Array, buffer: str, phase: int) -> Body:
        """Return the body that stores each element of a value at a place that is known, in elements of a buffer."""
        self._begin(update.shape.extents)
        return self._finished(self._line(update, self._lines.points()), buffer, at, phase)

    def _begin(self, extents: tuple[int, ...]) -> None:
        self._lines = Lines(extents)
        self._first = len(extents)
        self._loads: list[tuple[int, str, Array, Array]] = []
        self._inside: Array = np.ones((), np.bool_)
        self._known: dict[tuple[int, bytes], int] = {}

    def _finished(self, value: int, buffer: str, at: Array, phase: int) -> Body:
        lines = self._lines
        # Only now are all axes known that maps are over.
        for line, name, where, inside in self._loads:
            lines.lines[line] = Load(access=self._accessed(name, where, inside, write=False))
        target = self._accessed(buffer, at, np.ones((), np.bool_), write=True)
        return Body(
            extents=lines.extents,
            instructions=(*lines.lines, Store(access=target, of=value)),
            phase=phase,
        )

    def _accessed(self, buffer: str, at: Array, inside: Array, *, write: bool) -> int:
        access = Access(buffer=buffer, write=write, map=self._map(at, inside))
        if access not in self._accesses:
            self._accesses.append(access)
        return self._accesses.index(access)

    def _map(self, at: Array, inside: Array) -> IndexMap:
        found = fit(self._lines.whole(at), self._lines.whole(inside)) if at.size and inside.any() else None
        if found is None:
            raise Unsupported("an index that no chain of strides gives")
        return found

    def _line(self, node: Instruction, at: At) -> int:
        key = (node.id, repr([(each.shape, each.tobytes()) for each in (*at, self._inside)]).encode())
        if key not in self._known:
            self._known[key] = self._made(node, at)
        return self._known[key]

    def _of(self, node: Instruction, number: int) -> Instruction:
        return self._computation.instructions[node.operands[number]]

    def _made(self, node: Instruction, at: At) -> int:
        if node.id in self._sources:
            return self._taken(self._sources[node.id], at)
        if node.opcode in UNARY or node.opcode in BINARY:
            word = UNARY.get(node.opcode) or BINARY[node.opcode]
            return self._lines.alu(word, *(self._line(self._of(node, n), at) for n in range(len(node.operands))))
        name = f"_{node.opcode.replace('-', '_')}"
        make: Callable[[Instruction, At], int] | None = getattr(self, name, None)
        if make is None:
            raise Unsupported(f"a kernel with {node.opcode}")
        return make(node, at)

    def _taken(self, source: Source, at: At) -> int:
        """Add a load of an operand, or what is known of it."""
        if source.constant is not None:
            return self._lines.chosen(self._picked(source.constant, at))
        if source.variable:
            return self._lines.cast(self._lines.add(Symbol(name=source.variable), "int64"), source.shape.dtype)
        if not source.shape.count:
            raise Unsupported("an element of nothing")
        line = self._lines.add(Load(access=-1), source.dtype)
        self._loads.append((line, source.buffer, place(source.shape, at), self._inside))
        return self._as(line, source.shape.dtype)

    def _as(self, line: int, dtype: str) -> int:
        if self._lines.dtypes[line] == dtype:
            return line
        if NUMPY[self._lines.dtypes[line]].itemsize != NUMPY[dtype].itemsize:
            raise Unsupported("bytes of another width")
        return self._lines.add(Bitcast(of=line, dtype=dtype), dtype)

    def _picked(self, array: Array, at: At) -> Array:
        return np.asarray(array[level(at)]) if at else array.reshape(())

    def _constant(self, node: Instruction, at: At) -> int:
        return self._lines.chosen(self._picked(literal(node), at))

    def _iota(self, node: Instruction, at: At) -> int:
        (axis,) = node.dimensions
        return self._lines.cast(self._lines.index(at[axis]), node.shape.dtype)

    # ---- movement

    def _broadcast(self, node: Instruction, at: At) -> int:
        return self._line(self._of(node, 0), tuple(at[axis] for axis in node.dimensions))

    def _transpose(self, node: Instruction, at: At) -> int:
        return self._line(self._of(node, 0), tuple(at[node.dimensions.index(axis)] for axis in range(len(at))))

    def _copy(self, node: Instruction, at: At) -> int:
        return self._line(self._of(node, 0), at)

    _opt_barrier = _copy

    def _reshape(self, node: Instruction, at: At) -> int:
        of = self._of(node, 0)
        return self._line(of, _unravelled(_row_major(node.shape, at), of.shape.extents))

    def _bitcast(self, node: Instruction, at: At) -> int:
        """Take the element that lies where one of the result does."""
        of = self._of(node, 0)
        slowest_first = tuple(reversed(of.shape.order))
        there = _unravelled(place(node.shape, at), tuple(of.shape.extents[axis] for axis in slowest_first))
        by_axis = dict(zip(slowest_first, there, strict=True))
        return self._as(self._line(of, tuple(by_axis[axis] for axis in range(len(slowest_first)))), node.shape.dtype)

    def _slice(self, node: Instruction, at: At) -> int:
        cuts = [(each.number(1), each.number(3)) for each in node.message.messages(17)]
        return self._line(self._of(node, 0), tuple(b + s * i for (b, s), i in zip(cuts, at, strict=True)))

    def _reverse(self, node: Instruction, at: At) -> int:
        extents = node.shape.extents
        moved = (extents[a] - 1 - i if a in node.dimensions else i for a, i in enumerate(at))
        return self._line(self._of(node, 0), tuple(moved))

    def _pad(self, node: Instruction, at: At) -> int:
        of, lines = self._of(node, 0), self._lines
        if node.message.message(21).messages(1) and not of.shape.count:
            return self._line(self._of(node, 1), ())
        inner, inside, outside = [], [], self._inside
        for axis, each in enumerate(node.message.message(21).messages(1)):
            low, step = each.number(1), each.number(3) + 1
            moved, extent = at[axis] - low, of.shape.extents[axis]
            valid = (moved >= 0) & (moved <= (extent - 1) * step) & (moved % step == 0)
            inner.append(np.clip(moved // step, 0, extent - 1))
            if not valid.all():
                inside.append(self._within(moved, (extent - 1) * step + 1, step))
                both = level((self._inside, valid))
                self._inside = both[0] & both[1]
        # Elsewhere no element is meant, and nothing has to be there.
        value = self._line(of, tuple(inner))
        self._inside = outside
        if not inside:
            return value
        condition = inside[0]
        for line in inside[1:]:
            condition = lines.alu("and", condition, line)
        return lines.alu("where", condition, value, self._line(self._of(node, 1), ()))

    def _within(self, at: Array, end: int, step: int) -> int:
        lines = self._lines
        index = lines.index(at)
        found = lines.alu("lt", index, lines.constant(end, "int64"))
        found = lines.alu("and", found, lines.alu("lt", lines.constant(-1, "int64"), index))
        if step > 1:
            rest = lines.alu("mod", index, lines.constant(step, "int64"))
            found = lines.alu("and", found, lines.alu("eq", rest, lines.constant(0, "int64")))
        return found

    def _concatenate(self, node: Instruction, at: At) -> int:
        (axis,) = node.dimensions
        lines, found, end = self._lines, -1, node.shape.extents[axis]
        for number in reversed(range(len(node.operands))):
            part = self._of(node, number)
            extent = part.shape.extents[axis]
            begin = end - extent
            if extent:
                moved = (*at[:axis], np.clip(at[axis] - begin, 0, extent - 1), *at[axis + 1 :])
                value = self._line(part, moved)
                if found >= 0:
                    here = lines.alu("lt", lines.index(at[axis]), lines.constant(end, "int64"))
                    value = lines.alu("where", here, value, found)
                found = value
            end = begin
        return found

    # ---- computation

    def _select(self, node: Instruction, at: At) -> int:
        of = [self._of(node, number) for number in range(3)]
        return self._lines.alu("where", *(self._line(each, at if each.shape.extents else ()) for each in of))

    def _clamp(self, node: Instruction, at: At) -> int:
        low, value, high = (self._of(node, number) for number in range(3))
        bounds = [self._line(each, at if each.shape.extents else ()) for each in (low, high)]
        return self._lines.alu("min", self._lines.alu("max", self._line(value, at), bounds[0]), bounds[1])

    def _compare(self, node: Instruction, at: At) -> int:
        left, right = (self._line(self._of(node, number), at) for number in range(2))
        ways = COMPARED[node.message.text(63)]
        if self._lines.dtypes[left] == "bool" and any(word == "lt" for word, _ in ways):
            raise Unsupported("an order of bools")
        found = [self._lines.alu(word, *((right, left) if turned else (left, right))) for word, turned in ways]
        return found[0] if len(found) == 1 else self._lines.alu("or", *found)

    def _convert(self, node: Instruction, at: At) -> int:
        return self._lines.cast(self._line(self._of(node, 0), at), node.shape.dtype)

    def _bitcast_convert(self, node: Instruction, at: At) -> int:
        return self._as(self._line(self._of(node, 0), at), node.shape.dtype)

    def _shift_right_arithmetic(self, node: Instruction, at: At) -> int:
        if not node.shape.dtype.startswith("int"):
            raise Unsupported("a shift with signs of what has none")
        return self._lines.alu("shr", *(self._line(self._of(node, number), at) for number in range(2)))

    def _shift_right_logical(self, node: Instruction, at: At) -> int:
        if not node.shape.dtype.startswith("uint"):
            raise Unsupported("a shift without signs of what has some")
        return self._lines.alu("shr", *(self._line(self._of(node, number), at) for number in range(2)))

    def _floor(self, node: Instruction, at: At) -> int:
        return self._whole(self._line(self._of(node, 0), at), down=True)

    def _ceil(self, node: Instruction, at: At) -> int:
        return self._whole(self._line(self._of(node, 0), at), down=False)

    def _whole(self, value: int, *, down: bool) -> int:
        """Add the next whole number: the truncated one, or one further where that is on the other side."""
        lines, dtype = self._lines, self._lines.dtypes[value]
        cut = lines.alu("trunc", value)
        beyond = lines.alu("lt", *((value, cut) if down else (cut, value)))
        one = lines.alu("sub" if down else "add", cut, lines.constant(1, dtype))
        return lines.alu("where", beyond, one, cut)

    def _reduce(self, node: Instruction, at: At) -> int:
        if len(node.operands) != 2:
            raise Unsupported("a reduction of several values at once")
        of, word = self._of(node, 0), self._folded(node)
        # HLO lists them in any order.
        axes = self._axes([of.shape.extents[axis] for axis in sorted(node.dimensions)], at)
        kept, folded = iter(at), iter(axes)
        inner = (
            self._lines.along(next(folded)) if axis in node.dimensions else next(kept)
            for axis in range(len(of.shape.extents))
        )
        found = self._lines.fold(word, self._line(of, tuple(inner)), axes)
        return self._begun(word, found, self._of(node, 1))

    def _begun(self, word: str, found: int, init: Instruction) -> int:
        """Add what a fold begins with, unless that changes nothing."""
        first = self._constant_of(init)
        dtype = self._lines.dtypes[found]
        if first is not None:
            changes_nothing = _least(dtype) if word == "max" else _greatest(dtype) if word == "min" else NEUTRAL[word]
            if first == np.array(changes_nothing).astype(NUMPY[dtype]):
                return found
        return self._lines.alu(word, self._line(init, ()), found)

    def _constant_of(self, node: Instruction) -> Array | None:
        source = self._sources.get(node.id)
        if source is not None:
            return source.constant
        return literal(node) if node.opcode == "constant" else None

    def _axes(self, extents: list[int], at: At) -> tuple[int, ...]:
        taken: list[int] = []
        if 0 in extents:
            raise Unsupported("a reduction of nothing")
        for extent in extents:
            taken.append(self._lines.axis(extent, at, taken, self._first))
        return tuple(taken)

    def _folded(self, node: Instruction) -> Any:
        computation = self._module.computations[node.called[0]]
        root, of = computation.root, computation.root.operands
        parts = [computation.instructions[each] for each in of]
        if root.opcode not in FOLDS or [each.opcode for each in parts] != ["parameter"] * 2 or of[0] == of[1]:
            raise Unsupported("a reduction by a computation of its own")
        return FOLDS[root.opcode]

    def _dot(self, node: Instruction, at: At) -> int:
        numbers = node.message.message(30)
        left, right = (self._of(node, number) for number in range(2))
        (lc, rc, lb, rb) = (numbers.numbers(field) for field in (1, 2, 3, 4))
        axes = self._axes([left.shape.extents[axis] for axis in lc], at)
        free = [a for a in range(len(left.shape.extents)) if a not in lc + lb]
        others = [a for a in range(len(right.shape.extents)) if a not in rc + rb]
        where: list[dict[int, Array]] = [{}, {}]
        for number, (one, other) in enumerate(zip(lb, rb, strict=True)):
            where[0][one] = where[1][other] = at[number]
        for one, other, axis in zip(lc, rc, axes, strict=True):
            where[0][one] = where[1][other] = self._lines.along(axis)
        where[0] |= {axis: at[len(lb) + number] for number, axis in enumerate(free)}
        where[1] |= {axis: at[len(lb) + len(free) + number] for number, axis in enumerate(others)}
        of = [
            self._lines.cast(self._line(each, tuple(place[a] for a in range(len(place)))), node.shape.dtype)
            for each, place in zip((left, right), where, strict=True)
        ]
        return self._lines.fold("add", self._lines.alu("mul", *of), axes)


def _row_major(shape: Shape, at: At) -> Array:
    return place(Shape(shape.dtype, shape.extents, tuple(reversed(range(len(shape.extents))))), at)


def place(shape: Shape, at: At) -> Array:
    """Return where an element lies in its buffer, in elements."""
    steps = zip(level(at), shape.strides, shape.extents, strict=True)
    return sum((index * step for index, step, extent in steps if extent != 1), np.zeros((), np.int64))


def _unravelled(flat: Array, extents: tuple[int, ...]) -> At:
    found: list[Array] = []
    for extent in reversed(extents):
        found.append(np.zeros((), np.int64) if extent == 1 else flat % max(extent, 1))
        flat = flat // max(extent, 1)
    return tuple(reversed(found))


def _least(dtype: str) -> Any:
    return -np.inf if kind(dtype) == "float" else False if dtype == "bool" else np.iinfo(NUMPY[dtype]).min


def _greatest(dtype: str) -> Any:
    return np.inf if kind(dtype) == "float" else True if dtype == "bool" else np.iinfo(NUMPY[dtype]).max
