"""Mistakes with parts, programs, local memory, indices that data choose, and captured sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec.structs import replace

from conformance.backends.opencl import OpenCL
from conformance.cases.case import Case
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.kernel_body import Alu, Body, Cast, Constant, Fetch, Instruction, Store
from conformance.cases.schedule.schedule import Access, Call, Item, Kernel, Schedule
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import from_array
from conformance.qualification.legal_schedules.constructs import (
    IndexesByData,
    NamesPrograms,
    ReplaysWhatItCaptured,
    SplitsReduces,
    StagesInLocalMemory,
)
from conformance.qualification.legal_schedules.engine import Scheduler
from conformance.qualification.legal_schedules.plain import plain
from conformance.qualification.schedule_changes import Leaf, each_leaf
from conformance.qualification.schedule_mutants.values import Instead


class _Fused(Scheduler):
    """Schedules graphs as the native engine does, which fuses."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the native engine's schedule."""
        return OpenCL.schedule(self, asked, planned=planned)


class EachNodeIsAKernel(_Fused):
    """Nothing is fused: every elementwise operation goes through memory."""

    breaks: ClassVar[str] = "fusion.C1"

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return a kernel for every value of a graph."""
        return plain(asked) if isinstance(asked, Graph) else super().schedule(asked, planned=planned)


class NoTwoNodesAreOne(_Fused):
    """Nodes are told apart by identity, so that one value is computed as often as it was written down."""

    breaks: ClassVar[str] = "dedup.C1"

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return a kernel for every node of a graph."""
        return plain(asked) if isinstance(asked, Graph) else super().schedule(asked, planned=planned)


class BarrierTakenForNeedless(StagesInLocalMemory):
    """The barrier between staging and use is removed, for each point seems to read what it wrote."""

    breaks: ClassVar[str] = "staging.C1"

    def change(self, made: Schedule) -> Schedule:
        """Run all phases at once."""
        return _each_body(super().change(made), lambda body: replace(body, phase=0))


class TileOfTheLastGroupFirst(StagesInLocalMemory):
    """Groups of points are numbered from the other end where tiles are read than where they are written."""

    breaks: ClassVar[str] = "staging.C2"

    def change(self, made: Schedule) -> Schedule:
        """Turn the first axis of what is read of a tile."""
        staged = super().change(made)
        tiles = {each.id for each in staged.buffers if each.local}

        def turned(access: Access) -> Access:
            if access.write or access.buffer not in tiles or access.map is None:
                return access
            (top,) = access.map
            last = sizes(top.extents[:1], {})[0] - 1
            other = replace(top, strides=(-top.strides[0], *top.strides[1:]), offset=last * top.strides[0])
            return replace(access, map=(other,))

        return each_leaf(staged, lambda leaf: replace(leaf, accesses=tuple(map(turned, leaf.accesses))))


class TileLeftForTheNextKernel(StagesInLocalMemory):
    """What one kernel staged the next one takes for its own, if it is as large."""

    breaks: ClassVar[str] = "staging.C3"

    def change(self, made: Schedule) -> Schedule:
        """Let all tiles of one size and dtype be one."""
        staged = super().change(made)
        first: dict[tuple[int, str, str], str] = {}
        names = {
            each.id: first.setdefault((each.size, each.dtype, each.device), each.id)
            for each in staged.buffers
            if each.local
        }

        def shared(leaf: Leaf) -> Leaf:
            own = tuple(replace(a, buffer=names.get(a.buffer, a.buffer)) for a in leaf.accesses)
            return replace(leaf, accesses=own)

        kept = tuple(each for each in staged.buffers if names.get(each.id, each.id) == each.id)
        return replace(each_leaf(staged, shared), buffers=kept)


def _each_body(made: Schedule, change: Callable[[Body], Body]) -> Schedule:
    def changed(leaf: Leaf) -> Leaf:
        if not isinstance(leaf, Kernel) or len(leaf.bodies) < 2:
            return leaf
        return replace(leaf, bodies=tuple(map(change, leaf.bodies)))

    return each_leaf(made, changed)


class OneProgramForAShape(NamesPrograms):
    """The key of a compiled kernel is its iteration space: another operation over as many points is launched."""

    breaks: ClassVar[str] = "dedup.C3"

    def change(self, made: Schedule) -> Schedule:
        """Name programs by the extents of their bodies."""
        return _named(super().change(made), lambda leaf: repr([body.extents for body in leaf.bodies]))


class EveryKernelIsCompiled(NamesPrograms):
    """The key of a compiled kernel holds the numbers of its loops, so that no two kernels are ever one."""

    breaks: ClassVar[str] = "dedup.C2"

    def change(self, made: Schedule) -> Schedule:
        """Name programs by the items that launch them."""
        return _named(super().change(made), lambda leaf: leaf.id)


def _named(made: Schedule, name: Callable[[Kernel], str]) -> Schedule:
    def changed(leaf: Leaf) -> Leaf:
        if not isinstance(leaf, Kernel):
            return leaf
        return replace(leaf, program=name(leaf))

    return each_leaf(made, changed)


class FusesPastTheLimit(NamesPrograms):
    """A device's limit of two buffers for a kernel is not asked for."""

    breaks: ClassVar[str] = "fusion.C7"

    def change(self, made: Schedule) -> Schedule:
        """Say that devices take two."""
        named = super().change(made)
        return replace(named, devices={name: replace(each, most_buffers=2) for name, each in named.devices.items()})


class PartsKeptNarrow(SplitsReduces):
    """Parts of a maximum of float32 are kept as bfloat16, to halve what is moved."""

    breaks: ClassVar[str] = "splits.C2"

    def change(self, made: Schedule) -> Schedule:
        """Round parts on their way through memory."""
        split = super().change(made)
        narrow = {each.id for each in split.buffers if each.id.startswith("parts") and each.dtype == "float32"}

        def changed(leaf: Leaf) -> Leaf:
            if not isinstance(leaf, Kernel) or not narrow.intersection(access.buffer for access in leaf.accesses):
                return leaf
            (body,) = leaf.bodies
            load, fold, store = body.instructions
            assert isinstance(store, Store)
            lines: tuple[Instruction, ...]
            if leaf.accesses[0].buffer in narrow:
                lines = (load, Cast(of=0, dtype="float32"), replace(fold, of=1), replace(store, of=2))
            else:
                lines = (load, fold, Cast(of=1, dtype="bfloat16"), replace(store, of=2))
            return replace(leaf, bodies=(replace(body, instructions=lines),))

        buffers = tuple(
            replace(each, dtype="bfloat16", size=each.size // 2) if each.id in narrow else each
            for each in split.buffers
        )
        return replace(each_leaf(split, changed), buffers=buffers)


class OnePartTooMany(SplitsReduces):
    """The second stage is told of a part more than the first stage writes."""

    breaks: ClassVar[str] = "splits.C3"

    def change(self, made: Schedule) -> Schedule:
        """Count a part too many."""

        def changed(leaf: Leaf) -> Leaf:
            own = tuple(replace(each, parts=each.parts + 1) if each.parts else each for each in leaf.accesses)
            return replace(leaf, accesses=own)

        return each_leaf(super().change(made), changed)


class LastPartForgotten(SplitsReduces):
    """The second stage of a split reduce folds one part too few."""

    breaks: ClassVar[str] = "law.C1"

    def change(self, made: Schedule) -> Schedule:
        """Fold the first part alone."""

        def changed(leaf: Leaf) -> Leaf:
            if not isinstance(leaf, Kernel) or not leaf.accesses[0].buffer.startswith("parts"):
                return leaf
            own: list[Access] = []
            for each in leaf.accesses:
                assert each.map is not None
                own.append(replace(each, map=(replace(each.map[0], extents=(1, *each.map[0].extents[1:])),)))
            bodies = tuple(replace(body, extents=(1, *body.extents[1:])) for body in leaf.bodies)
            return replace(leaf, accesses=tuple(own), bodies=bodies)

        return each_leaf(super().change(made), changed)


class IndicesBeginAtOne(IndexesByData):
    """Indices are counted from 1, as the language that wrote them does, and the last one is outside."""

    breaks: ClassVar[str] = "bodies.C7"

    def change(self, made: Schedule) -> Schedule:
        """Add 1 to every index that data give."""

        def changed(leaf: Leaf) -> Leaf:
            if not isinstance(leaf, Kernel):
                return leaf
            return replace(leaf, bodies=tuple(map(_from_one, leaf.bodies)))

        return each_leaf(super().change(made), changed)


def _from_one(body: Body) -> Body:
    """Return a body that takes the element after the one it should."""
    at = next((number for number, each in enumerate(body.instructions) if isinstance(each, Fetch)), None)
    if at is None:
        return body
    fetch = body.instructions[at]
    assert isinstance(fetch, Fetch)
    one = Constant(value=from_array(NUMPY["int64"].type(1)))
    lines = [*body.instructions[:at], one, Alu(op="add", of=(fetch.at[0], at)), replace(fetch, at=(at + 1,))]
    lines += [_later(each, at, 2) for each in body.instructions[at + 1 :]]
    return replace(body, instructions=tuple(lines))


def _later(each: Instruction, at: int, by: int) -> Instruction:
    """Return an instruction whose sources from number ``at`` on have moved."""
    of = getattr(each, "of", None)
    if of is None:
        return each
    moved = tuple(n + by if n >= at else n for n in of) if isinstance(of, tuple) else of + by if of >= at else of
    return replace(each, of=moved)


class ReplayedOnTheFirstBuffers(ReplaysWhatItCaptured):
    """A captured kernel reads what it was captured with: only its outputs are exchanged. Seen with CUDA graphs."""

    breaks: ClassVar[str] = "law.C1"

    def change(self, made: Schedule) -> Schedule:
        """Give every call the inputs of the first call of its sequence."""
        replayed = super().change(made)
        first: dict[str, Sequence[str]] = {}
        items: list[Item] = []
        for item in replayed.items:
            if isinstance(item, Call):
                known = first.setdefault(item.sequence, item.buffers)
                items.append(replace(item, buffers=(*known[:-1], item.buffers[-1])))
            else:
                items.append(item)
        return replace(replayed, items=tuple(items))


class NegatesBySubtraction(Instead):
    """-x is computed as 0 - x, which is 0 for 0, and not -0."""

    breaks = "law.C4"

    def instead(
        self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int
    ) -> list[Instruction] | None:
        """Subtract from zero."""
        if each.op != "neg" or kind(dtype) != "float":
            return None
        return [Constant(value=from_array(NUMPY[dtype].type(0))), Alu(op="sub", of=(first, each.of[0]))]
