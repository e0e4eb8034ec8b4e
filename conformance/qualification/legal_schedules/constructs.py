"""Right engines that use words of the form which plain schedules have no use for."""

from __future__ import annotations

from hashlib import blake2b
from itertools import count

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.index_map import Affine, contiguous
from conformance.cases.schedule.kernel_body import Body, Fetch, Index, Instruction, Load, Reduce, Store, sources
from conformance.cases.schedule.schedule import Access, Call, Copy, Item, Kernel, Schedule, Sequence, View
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.judging.schedules.facts.keys import key_of
from conformance.qualification.legal_schedules.engine import Legal
from conformance.qualification.schedule_changes import each_leaf
from conformance.reference.schedule.facts import Facts

_EXACT = ("max", "min", "and", "or", "xor")


class NamesPrograms(Legal):
    """Kernels are compiled by what they are, and each says which program it launches: every compiler with a cache."""

    def change(self, made: Schedule) -> Schedule:
        """Name the program of each kernel by its key, and say how many buffers a kernel takes."""
        facts = Facts(made)
        named = each_leaf(
            made, lambda leaf: replace(leaf, program=program(facts, leaf)) if isinstance(leaf, Kernel) else leaf
        )
        devices = {name: replace(each, most_buffers=MOST_BUFFERS) for name, each in named.devices.items()}
        return replace(named, devices=devices)


MOST_BUFFERS = 31
"""Buffers that a kernel of Metal takes; no plain kernel has as many."""


def program(facts: Facts, leaf: Kernel) -> str:
    """Return the name of what a kernel launches: the same for those that are one up to their buffers."""
    return blake2b(key_of(facts, leaf, anywhere=True), digest_size=8).hexdigest()


class SplitsReduces(Legal):
    """Reduces are folded in parts first, and the parts by a second kernel, however short they are."""

    def change(self, made: Schedule) -> Schedule:
        """Split the first folded axis of every kernel that reduces, where that axis has an even extent."""
        items: list[Item] = []
        added: list[Buffer] = []
        facts = Facts(made)
        for item in made.items:
            halves = _halves(facts, item, len(added)) if isinstance(item, Kernel) else None
            if halves is None:
                items.append(item)
            else:
                buffer, first, second = halves
                added.append(buffer)
                items += [first, second]
        return replace(made, items=tuple(items), buffers=(*made.buffers, *added))


def _halves(facts: Facts, item: Kernel, number: int) -> tuple[Buffer, Kernel, Kernel] | None:
    """Return a reduce as two kernels and the buffer of two parts between them; ``None`` where it is no such reduce."""
    if len(item.bodies) != 1 or len(item.accesses) != 2:
        return None
    (body,), (read, write) = item.bodies, item.accesses
    kinds = [type(each) for each in body.instructions]
    node = facts.nodes.get(str(write.node))
    if kinds != [Load, Reduce, Store] or node is None or node.op != "reduce" or read.map is None or write.map is None:
        return None
    fold = body.instructions[1]
    assert isinstance(fold, Reduce)
    axis = min(fold.axes, default=-1)
    extent = body.extents[axis] if axis >= 0 else 0
    simple = len(read.map) == len(write.map) == 1 and read.map[0].mask is None
    if not simple or not isinstance(extent, int) or extent < 2 or extent % 2 or fold.acc or write.map[0].offset:
        return None
    if kind(node.dtype) == "float" and fold.op not in _EXACT:
        return None
    (source,), (target,) = read.map, write.map
    extents = (2, *body.extents[:axis], extent // 2, *body.extents[axis + 1 :])
    step = source.strides[axis] * (extent // 2)
    wide = replace(source, extents=extents, strides=(step, *source.strides))
    results = facts.buffers[write.buffer].size // NUMPY[node.dtype].itemsize
    parts = Buffer(id=f"parts {number}", size=2 * results * NUMPY[node.dtype].itemsize, dtype=node.dtype,
                   device=item.device)  # fmt: skip
    kept = replace(target, extents=extents, strides=(results, *target.strides))
    first = replace(
        item, id=f"{item.id} in parts", provenance=(),
        accesses=(Access(buffer=read.buffer, map=(wide,)),
                  Access(buffer=parts.id, write=True, map=(kept,), node=node.id, parts=2)),
        bodies=(Body(extents=extents, instructions=(
            Load(access=0), replace(fold, axes=tuple(each + 1 for each in fold.axes)), Store(access=1, of=1))),),
    )  # fmt: skip
    both = (Affine(extents=(2, results), strides=(results, 1)),)
    into = (Affine(extents=(2, results), strides=(0, 1)),)
    second = replace(
        item,
        accesses=(Access(buffer=parts.id, map=both), replace(write, map=into)),
        bodies=(Body(extents=(2, results), instructions=(
            Load(access=0), Reduce(op=fold.op, of=0, axes=(0,)), Store(access=1, of=1))),),
    )  # fmt: skip
    return parts, first, second


class StagesInLocalMemory(Legal):
    """What a kernel loads is staged in local memory first, by groups of points, behind a barrier: tiled kernels."""

    def change(self, made: Schedule) -> Schedule:
        """Stage the first load of every kernel that folds nothing and asks for no index."""
        added: list[Buffer] = []
        items: list[Item] = []
        facts = Facts(made)
        for number, item in enumerate(made.items):
            staged = _staged(facts, item, number, f"tile {len(added)}") if isinstance(item, Kernel) else None
            if staged is None:
                items.append(item)
            else:
                items.append(staged[0])
                added.append(staged[1])
        return replace(made, items=tuple(items), buffers=(*made.buffers, *added))


def _staged(facts: Facts, item: Kernel, number: int, name: str) -> tuple[Kernel, Buffer] | None:
    (body,) = item.bodies if len(item.bodies) == 1 else (Body(extents=(), instructions=()),)
    loads = [at for at, each in enumerate(body.instructions) if isinstance(each, Load)]
    plain = not any(isinstance(each, Reduce | Index | Fetch) for each in body.instructions)
    shape = tuple(extent for extent in body.extents if isinstance(extent, int))
    in_place = len({facts.home(access.buffer) for access in item.accesses}) < len(item.accesses)
    if not loads or not plain or in_place or len(shape) != len(body.extents) or not shape or 0 in shape or number < 0:
        return None
    load = body.instructions[loads[0]]
    assert isinstance(load, Load)
    source = facts.buffers[item.accesses[load.access].buffer]
    size = NUMPY[source.dtype].itemsize
    for extent in shape:
        size *= extent
    tile = Buffer(id=name, size=size, dtype=source.dtype, device=item.device, local=True)
    every, last = contiguous(shape), len(item.accesses)
    own = (*item.accesses, Access(buffer=name, write=True, map=every), Access(buffer=name, map=every))
    first = Body(extents=shape, instructions=(load, Store(access=last, of=0)), groups=1)
    taken = tuple(replace(each, access=last + 1) if each is load else each for each in body.instructions)
    second = Body(extents=shape, instructions=taken, groups=1, phase=1)
    return replace(item, accesses=own, bodies=(first, second)), tile


class ReplaysWhatItCaptured(Legal):
    """Every kernel was captured once, and is called on the buffers of the moment: graphs of CUDA, a jit's replay."""

    def change(self, made: Schedule) -> Schedule:
        """Make each kernel and each copy a call of the sequence that it is, up to its buffers."""
        facts = Facts(made)
        sequences: dict[str, Sequence] = {}
        items = tuple(
            _called(facts, item, sequences) if isinstance(item, Kernel | Copy) and item.handle is None else item
            for item in made.items
        )
        return replace(made, items=items, sequences=sequences)


def _called(facts: Facts, item: Kernel | Copy, sequences: dict[str, Sequence]) -> Item:
    """Return the call of what an item is; which value it writes this time nothing says, only what it computes."""
    names = tuple(dict.fromkeys(access.buffer for access in item.accesses))
    slots = {name: f"p{number}" for number, name in enumerate(names)}
    sizes = [facts.buffers[name].size for name in names]
    told = item.variables if isinstance(item, Kernel) else ()
    key = blake2b(repr((key_of(facts, item), sizes, told)).encode(), digest_size=8).hexdigest()
    if key not in sequences:
        parameters = tuple(
            Buffer(id=slots[name], size=each.size, dtype=each.dtype, device=each.device)
            for name in names
            for each in (facts.buffers[name],)
        )
        accesses = tuple(replace(access, buffer=slots[access.buffer], node=None) for access in item.accesses)
        inner = replace(item, id="it", accesses=accesses, after=None, provenance=())
        sequences[key] = Sequence(parameters=len(names), buffers=parameters, items=(inner,))
    return Call(id=item.id, sequence=key, buffers=names, after=item.after, provenance=item.provenance)


class IndexesByData(Legal):
    """Elements are taken by indices that were computed, and not by the kernel's own counters: gathers everywhere."""

    def change(self, made: Schedule) -> Schedule:
        """Take the last axis of the first load of every kernel by its own index, as data."""
        facts = Facts(made)

        def changed(leaf: Kernel | Copy) -> Kernel | Copy:
            return _by_data(facts, leaf) if isinstance(leaf, Kernel) and len(leaf.bodies) == 1 else leaf

        return each_leaf(made, changed)


def _by_data(facts: Facts, item: Kernel) -> Kernel:
    (body,) = item.bodies
    loads = [at for at, each in enumerate(body.instructions) if isinstance(each, Load)]
    if not loads or not body.extents:
        return item
    at = loads[0]
    load = body.instructions[at]
    assert isinstance(load, Load)
    access, axis = item.accesses[load.access], len(body.extents) - 1
    shared = sum(isinstance(each, Load) and each.access == load.access for each in body.instructions) > 1
    written = {facts.home(each.buffer) for each in item.accesses if each.write}
    if access.map is None or shared or facts.home(access.buffer) in written:
        return item
    top, *rest = access.map
    masks = top.mask or tuple((0, extent) for extent in top.extents)
    moved = replace(
        top,
        extents=(*top.extents, top.extents[axis]),
        strides=(*top.strides[:axis], 0, top.strides[axis]),
        mask=None if top.mask is None else (*masks[:axis], (0, top.extents[axis]), masks[axis]),
        scales={name: (*scale[:axis], 0, scale[axis]) for name, scale in top.scales.items()},
    )
    lines: list[Instruction] = []
    place: dict[int, int] = {}
    for number, each in enumerate(body.instructions):
        if number == at:
            lines += [Index(axis=axis), Fetch(access=load.access, at=(len(lines),))]
        else:
            lines.append(_renumbered(each, place))
        place[number] = len(lines) - 1
    accesses = tuple(
        replace(each, map=(moved, *rest)) if n == load.access else each for n, each in enumerate(item.accesses)
    )
    return replace(item, accesses=accesses, bodies=(replace(body, instructions=tuple(lines)),))


def _renumbered(each: Instruction, place: dict[int, int]) -> Instruction:
    of = tuple(place[source] for source in sources(each))
    if not of:
        return each
    if isinstance(each, Fetch):
        return replace(each, at=of)
    return replace(each, of=of if isinstance(getattr(each, "of", None), tuple) else of[0])


class ViewsOfViews(Legal):
    """A buffer is shown by a view of a view: slices of slices are kept as they were asked for."""

    def change(self, made: Schedule) -> Schedule:
        """Add a view of all of each buffer, and a view of that."""
        views = [each for each in made.buffers if each.base is None and each.size and not each.local]
        added: list[Buffer] = []
        items: list[Item] = []
        for number, each in zip(count(), views, strict=False):
            one = Buffer(id=f"view {number}", size=each.size, dtype=each.dtype, device=each.device, base=each.id)
            two = replace(one, id=f"view of view {number}", base=one.id)
            added += [one, two]
            items.append(View(id=f"show {number}", buffer=two.id))
        return replace(made, buffers=(*made.buffers, *added), items=(*made.items, *items))
