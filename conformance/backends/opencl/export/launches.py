"""A launch in neutral operations: its own instructions, and for what data choose a search along the axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.backends.opencl.export.body import Asked, last
from conformance.backends.opencl.graph.index_map import IndexMap, Shape, over
from conformance.backends.opencl.graph.node import Instruction, Launch, Node, Take
from conformance.backends.opencl.schedule.item import Fused
from conformance.cases.schedule import index_map as neutral
from conformance.cases.schedule import kernel_body
from conformance.cases.schedule.kernel_body import Alu, Bitcast, Body, Cast, Constant, Index, Load, Reduce, Store
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor


def launched(item: Fused, names: Mapping[Node, str], asked: Asked) -> tuple[tuple[Access, ...], Body]:
    """Return the accesses and the body of a launch."""
    launch = item.launch
    chosen = [line for line in launch.instructions if isinstance(line, Take)]
    extents = (*launch.extents, *(line.extent for line in chosen))
    steps = {line.access: (len(launch.extents) + number, line.stride) for number, line in enumerate(chosen)}
    accesses = [
        Access(buffer=names[node], map=exported_map(_along(found, extents, steps.get(number))))
        for number, (node, found) in enumerate(launch.reads)
    ]
    for target, (found, _) in zip(item.targets, launch.stores, strict=True):
        whole = exported_map(_along(found, extents, None))
        node = last(asked, target.node)
        accesses.append(Access(buffer=names[target.node], write=True, map=whole, node=node))
    return tuple(accesses), Body(extents=extents, instructions=tuple(_Lines(launch).made()))


def exported_map(index_map: IndexMap) -> neutral.IndexMap:
    """Return a map in the neutral form."""
    return tuple(
        neutral.Affine(extents=each.extents, strides=each.strides, offset=each.offset, mask=each.mask)
        for each in index_map
    )


def _along(index_map: IndexMap, extents: Shape, step: tuple[int, int] | None) -> IndexMap:
    """Return a map over more axes, moving along one of them only if it is told to."""
    first = index_map[0]
    wide = over(index_map, tuple(range(len(first.extents))), extents)
    if step is None:
        return wide
    axis, stride = step
    strides = list(wide[0].strides)
    strides[axis] = stride
    return (wide[0]._replace(strides=tuple(strides)), *wide[1:])


class _Lines:
    """The instructions, those that take what data choose written out."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._lines: list[kernel_body.Instruction] = []
        self._axis = len(launch.extents)

    def made(self) -> Sequence[kernel_body.Instruction]:
        place: list[int] = []
        for line in self._launch.instructions:
            if isinstance(line, Take):
                place.append(self._taken(line, place))
            else:
                place.append(self._add(_renumbered(line, place)))
        return self._lines

    def _taken(self, line: Take, place: Sequence[int]) -> int:
        """Write a search for the element: of all along the axis the one whose number is the index."""
        dtype = self._launch.reads[line.access][0].dtype
        axis, self._axis = self._axis, self._axis + 1
        wanted = self._add(Cast(of=place[line.index], dtype="int64"))
        wanted = self._add(Alu(op="max", of=(wanted, self._number(0))))
        wanted = self._add(Alu(op="min", of=(wanted, self._number(line.extent - 1))))
        hit = self._add(Alu(op="eq", of=(self._add(Index(axis=axis)), wanted)))
        bits = _bits(dtype)
        found = self._add(Load(access=line.access))
        found = found if bits == dtype else self._add(Bitcast(of=found, dtype=bits))
        zero = self._add(Constant(value=Tensor(dtype=bits, shape=(), bits="00" * NUMPY[bits].itemsize)))
        found = self._add(Alu(op="where", of=(hit, found, zero)))
        found = self._add(Reduce(op="add" if kind(bits) == "complex" else "or", of=found, axes=(axis,)))
        return found if bits == dtype else self._add(Bitcast(of=found, dtype=dtype))

    def _number(self, number: int) -> int:
        bits = number.to_bytes(8, "little", signed=True).hex()
        return self._add(Constant(value=Tensor(dtype="int64", shape=(), bits=bits)))

    def _add(self, line: kernel_body.Instruction) -> int:
        self._lines.append(line)
        return len(self._lines) - 1


def _bits(dtype: str) -> str:
    """Return the dtype whose bits of an element of ``dtype`` can be chosen by a bitwise or."""
    if kind(dtype) in ("bool", "integer") or dtype == "complex128":
        return dtype
    return f"uint{8 * NUMPY[dtype].itemsize}"


def _renumbered(line: Instruction, place: Sequence[int]) -> kernel_body.Instruction:
    if isinstance(line, Alu):
        return Alu(op=line.op, of=tuple(place[each] for each in line.of))
    if isinstance(line, Cast):
        return Cast(of=place[line.of], dtype=line.dtype)
    if isinstance(line, Bitcast):
        return Bitcast(of=place[line.of], dtype=line.dtype)
    if isinstance(line, Reduce):
        return Reduce(op=line.op, of=place[line.of], axes=line.axes)
    if isinstance(line, Store):
        return Store(access=line.access, of=place[line.of])
    assert not isinstance(line, Take)  # written out by the caller
    return line
