"""A launch in neutral operations: its own instructions, and for what data choose a fetch of the element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from conformance.backends.opencl.export.body import ProgramNodes, last
from conformance.backends.opencl.graph.index_map import Affine, IndexMap
from conformance.backends.opencl.graph.node import Instruction, Launch, Node, Take
from conformance.backends.opencl.schedule.item import Fused
from conformance.cases.schedule import index_map as neutral
from conformance.cases.schedule import kernel_body
from conformance.cases.schedule.kernel_body import Alu, Bitcast, Body, Cast, Constant, Fetch, Load, Reduce, Store
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.tensor import Tensor


def launched(item: Fused, names: Mapping[Node, str], asked: ProgramNodes) -> tuple[tuple[Access, ...], Body]:
    """Return the accesses and the body of a launch: those of loads, those of what data choose, and those of stores."""
    launch = item.launch
    loaded = sorted({line.access for line in launch.instructions if isinstance(line, Load)})
    chosen = [line for line in launch.instructions if isinstance(line, Take)]
    accesses = [_read(launch, number, names) for number in loaded]
    accesses += [_read(launch, line.access, names, line) for line in chosen]
    read: list[int | Take] = [*loaded, *chosen]
    numbers = {each: place for place, each in enumerate(read)}
    for place, (target, (found, _)) in enumerate(zip(item.targets, launch.stores, strict=True)):
        numbers[len(launch.reads) + place] = len(accesses)
        node = last(asked, target.node)
        accesses.append(Access(buffer=names[target.node], write=True, map=exported_map(found), node=node))
    return tuple(accesses), Body(extents=launch.extents, instructions=tuple(_Lines(launch, numbers).made()))


def _read(launch: Launch, number: int, names: Mapping[Node, str], take: Take | None = None) -> Access:
    """Return a read of a launch, with an axis more for the index of what data choose."""
    node, found = launch.reads[number]
    if take is not None:
        first = found[0]
        mask = None if first.mask is None else (*first.mask, (0, take.extent))
        wide = Affine((*first.extents, take.extent), (*first.strides, take.stride), first.offset, mask)
        found = (wide, *found[1:])
    return Access(buffer=names[node], map=exported_map(found))


def exported_map(index_map: IndexMap) -> neutral.IndexMap:
    """Return a map in the neutral form."""
    return tuple(
        neutral.Affine(extents=each.extents, strides=each.strides, offset=each.offset, mask=each.mask)
        for each in index_map
    )


class _Lines:
    """The instructions, those that take what data choose written out; ``numbers`` are those of their accesses."""

    def __init__(self, launch: Launch, numbers: Mapping[int | Take, int]) -> None:
        self._launch, self._numbers = launch, numbers
        self._lines: list[kernel_body.Instruction] = []

    def made(self) -> Sequence[kernel_body.Instruction]:
        place: list[int] = []
        for line in self._launch.instructions:
            if isinstance(line, Take):
                place.append(self._taken(line, place))
            else:
                place.append(self._add(_renumbered(line, place, self._numbers)))
        return self._lines

    def _taken(self, line: Take, place: Sequence[int]) -> int:
        """Write the index, brought into its axis, and the fetch of the element that it names."""
        wanted = self._add(Cast(of=place[line.index], dtype="int64"))
        wanted = self._add(Alu(op="max", of=(wanted, self._number(0))))
        wanted = self._add(Alu(op="min", of=(wanted, self._number(line.extent - 1))))
        return self._add(Fetch(access=self._numbers[line], at=(wanted,)))

    def _number(self, number: int) -> int:
        bits = number.to_bytes(8, "little", signed=True).hex()
        return self._add(Constant(value=Tensor(dtype="int64", shape=(), bits=bits)))

    def _add(self, line: kernel_body.Instruction) -> int:
        self._lines.append(line)
        return len(self._lines) - 1


def _renumbered(line: Instruction, place: Sequence[int], numbers: Mapping[int | Take, int]) -> kernel_body.Instruction:
    if isinstance(line, Load):
        return Load(access=numbers[line.access])
    if isinstance(line, Store):
        return Store(access=numbers[line.access], of=place[line.of])
    if isinstance(line, Alu):
        return Alu(op=line.op, of=tuple(place[each] for each in line.of))
    if isinstance(line, Cast | Bitcast | Reduce):
        return replace(line, of=place[line.of])
    assert not isinstance(line, Take)  # written out by the caller
    return line
