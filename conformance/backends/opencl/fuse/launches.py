"""A kernel of the partition as instructions: one for each value at each set of points where it is needed."""

from __future__ import annotations

from collections.abc import Callable

from conformance.backends.opencl.fuse.axis_coalescing import coalesced
from conformance.backends.opencl.fuse.partition import At, Home, base_of, index_of, inside, needed
from conformance.backends.opencl.graph.index_map import (
    Affine,
    IndexMap,
    Shape,
    affine,
    bounds_of,
    composed,
    identity,
    names_nothing,
    over,
    steps,
    then,
)
from conformance.backends.opencl.graph.node import Instruction, Launch, Node, Take
from conformance.backends.opencl.graph.value import GraphValue, base, plain
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Cast,
    Constant,
    Index,
    Load,
    Reduce,
    Store,
)
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor

Lying = Callable[[GraphValue], tuple[Node, IndexMap]]
"""Return where a stored value lies: a node, and the map of the value's elements to its."""


class Writer:
    """The instructions of one kernel, as they are written."""

    def __init__(self, home: Home, lying: Lying) -> None:
        """Write what ``home`` needs."""
        self._home, self._lying = home, lying
        self._lines: list[Instruction] = []
        self._known: dict[Instruction, int] = {}
        self._numbers: dict[tuple[Node, tuple[int, ...], IndexMap], int] = {}
        self._accesses: list[tuple[Node, IndexMap]] = []
        self._axes: list[tuple[int, ...]] = []
        self._at: dict[tuple[int, At], int] = {}

    def launch(self, target: IndexMap, asked: tuple[str, ...], *, lanes: int, generic: bool) -> Launch:
        """Return the kernel, which stores its value where ``target`` says, by vectors if its device has ``lanes``.

        One that is ``generic`` takes its numbers as arguments.
        """
        home = self._home
        for number, at in sorted(home.asked, key=lambda key: key[0]):
            # What is read from storage is loaded where somebody takes it.
            if not self._lies(home.values[number]):
                self._at[number, at] = self._written(home.values[number], at)
        rank = len(home.value.shape)
        every = At(tuple(range(rank)), identity(home.value.shape))
        roots = home.roots or [home.value]
        found = [self._worth(root, every) for root in roots]
        for place, of in enumerate(found):
            self._lines.append(Store(access=len(self._accesses) + place, of=of))
        extents = tuple(home.extents)
        reads = tuple(
            (node, self._over(at, found)) for (node, found), at in zip(self._accesses, self._axes, strict=True)
        )
        made = Launch(
            home.value.device,
            extents,
            rank,
            tuple(self._lines),
            reads,
            tuple((over(target, tuple(range(rank)), extents), root.dtype) for root in roots),
            "; ".join(home.reasons),
            asked,
            0 if generic else lanes,
            generic,
        )
        return coalesced(made)

    def _over(self, axes: tuple[int, ...], found: IndexMap) -> IndexMap:
        return over(found, axes, tuple(self._home.extents))

    def _written(self, value: GraphValue, at: At) -> int:
        """Write a value at some points of the kernel, and return the number of its instruction."""
        if value.op == "const":
            return self._add(Constant(value=Tensor(dtype=value.dtype, shape=(), bits=value.arg.hex())))
        if value.op == "load":
            return self._load(value, at)
        special = {"iota": self._counted, "move": self._moved, "reduce": self._reduced, "gather": self._taken}
        if value.op in special:
            return special[value.op](value, at)
        of = tuple(self._worth(each, at) for each in value.of)
        plain_lines: dict[str, Instruction] = {
            "alu": Alu(op=value.arg, of=of),
            "cast": Cast(of=of[0], dtype=value.dtype),
            "bitcast": Bitcast(of=of[0], dtype=value.dtype),
        }
        return self._add(plain_lines[value.op]) if value.op in plain_lines else of[0]

    def _counted(self, value: GraphValue, at: At) -> int:
        along = affine(value.shape, [int(axis == value.arg) for axis in range(len(value.shape))])
        return self._position(At(at.axes, then(at.map, along)))[0]

    def _reduced(self, value: GraphValue, at: At) -> int:
        within = inside(self._home, value, at)
        source = self._worth(value.of[0], within)
        return self._add(Reduce(op=value.arg[0], of=source, axes=within.axes[len(at.axes) :]))

    def _lies(self, value: GraphValue) -> bool:
        """Return whether a value is read from a storage."""
        return value not in self._home.roots and value.op != "const" and value in self._home.stored

    def _worth(self, value: GraphValue, at: At) -> int:
        """Return the number of the instruction that gives a value at some points."""
        at = needed(value, at)
        key = value.number, at
        if names_nothing(at.map):
            return self._zero(value.dtype)
        if key not in self._at:
            self._at[key] = self._load(value, at)
        return self._at[key]

    def _load(self, value: GraphValue, at: At) -> int:
        node, lies = self._lying(value)
        return self._add(Load(access=self._access(node, at.axes, composed(at.map, lies))))

    def _access(self, node: Node, axes: tuple[int, ...], found: IndexMap) -> int:
        key = node, axes, found
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._accesses)
            self._accesses.append((node, found))
            self._axes.append(axes)
        return number

    def _moved(self, value: GraphValue, at: At) -> int:
        source = value.of[0]
        there = At(at.axes, then(at.map, value.arg))
        found = self._worth(source, there)
        if value.arg.mask is None or self._lies(base(value)) or names_nothing(there.map):
            return found
        _, valid = self._position(there)
        if valid is None:
            # Of the padded value only what was there before is needed here.
            return found
        return self._add(Alu(op="where", of=(valid, found, self._zero(value.dtype))))

    def _taken(self, value: GraphValue, at: At) -> int:
        data, index = plain(value.of[0]), value.of[1]
        number = self._worth(index, At(at.axes, then(at.map, index_of(value))))
        if data.op == "const":
            return self._worth(data, At(at.axes, then(at.map, base_of(value))))
        node, lies = self._lying(data)
        axis, shape = value.arg, value.of[0].shape
        base = composed(then(at.map, base_of(value)), lies)
        access = self._access(node, at.axes, base)
        return self._add(Take(access, number, shape[axis], steps(shape)[axis]))

    def _position(self, at: At) -> tuple[int, int | None]:
        """Write where a map leads, as int64, and whether it leads anywhere, if that is not always so."""
        index = [self._add(Index(axis=axis)) for axis in at.axes]
        valid: int | None = None
        number = self._integer(0)
        for place, each in enumerate(at.map):
            if place:
                index = self._unravelled(number, each.extents)
            for one, (low, high), extent in zip(index, bounds_of(each), each.extents, strict=True):
                for found in self._bounded(one, low, high, extent):
                    valid = found if valid is None else self._add(Alu(op="and", of=(valid, found)))
            number = self._number(index, each)
        return number, valid

    def _bounded(self, index: int, low: int, high: int, extent: int) -> list[int]:
        found = []
        if low > 0:
            found.append(self._add(Alu(op="lt", of=(self._integer(low - 1), index))))
        if high < extent:
            found.append(self._add(Alu(op="lt", of=(index, self._integer(high)))))
        return found

    def _number(self, index: list[int], each: Affine) -> int:
        total = self._integer(each.offset)
        for one, stride in zip(index, each.strides, strict=True):
            if stride:
                scaled = one if stride == 1 else self._add(Alu(op="mul", of=(one, self._integer(stride))))
                total = self._add(Alu(op="add", of=(total, scaled)))
        return total

    def _unravelled(self, number: int, shape: Shape) -> list[int]:
        found = []
        for place, (extent, step) in enumerate(zip(shape, steps(shape), strict=True)):
            one = number if step == 1 else self._add(Alu(op="div", of=(number, self._integer(step))))
            found.append(one if place == 0 else self._add(Alu(op="mod", of=(one, self._integer(extent)))))
        return found

    def _zero(self, dtype: str) -> int:
        bits = "00" * NUMPY[dtype].itemsize
        return self._add(Constant(value=Tensor(dtype=dtype, shape=(), bits=bits)))

    def _integer(self, number: int) -> int:
        bits = number.to_bytes(8, "little", signed=True).hex()
        return self._add(Constant(value=Tensor(dtype="int64", shape=(), bits=bits)))

    def _add(self, line: Instruction) -> int:
        """Add an instruction that is not there yet, and return its number."""
        found = self._known.get(line)
        if found is None:
            found = self._known[line] = len(self._lines)
            self._lines.append(line)
        return found
