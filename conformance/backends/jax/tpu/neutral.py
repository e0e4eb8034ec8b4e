"""The neutral schedule of what XLA compiled for TPUs: items on all ranks, buffers, and where results lie.

HLO does not say where values lie in a memory, so each has a buffer of its own, but for what an instruction says that it
puts in the place of an operand: of a memory plan nothing is said. Buffers have no tiles (``flat``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.backends.base import Unsupported
from conformance.backends.index_fit import fit
from conformance.backends.jax.hlo.module import Module, Shape
from conformance.backends.jax.tpu.held import Held, Stored, access, index_map
from conformance.backends.jax.tpu.items import SHOWN
from conformance.backends.jax.tpu.items import walk as begun
from conformance.backends.jax.tpu.walk import Walk
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Buffer, Device
from conformance.cases.schedule.index_map import IndexMap
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Place, Schedule, Wait, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.layout import Layout, place
from conformance.cases.tensor.tensor import Tensor, to_array

PLACED = Device(alignment=1)
"""Where values lie in a memory is the compiler's affair, and HLO does not say it."""

PUT: Final = "put "
"""How the ids of items begin that bring an input to the devices; no instruction's name has a blank."""


def program_schedule(case: Case, module: Module) -> Schedule:
    """Return the schedule of a program; raise ``Unsupported`` for what the neutral form cannot say of it.

    A device is given a block that lies closely. One that lies otherwise in its storage is copied before.
    """
    walk, given = begun(module, case.program.world), list[Held]()
    parameters = sorted(
        (each for each in module.entry.instructions.values() if each.opcode == "parameter"), key=lambda x: x.parameter
    )
    for name, node in zip(sorted(case.inputs), parameters, strict=True):
        operand = case.inputs[name]
        given.append(_put(walk, name, node.shape, operand.blocks, operand.layouts))
    root = walk.entry(given)
    names = sorted(dict.fromkeys(case.program.results))
    parts = root if isinstance(root, tuple) else (root,)
    places = [
        each for name, held in zip(names, parts, strict=True) for each in placed(walk, name, held, case.program.world)
    ]
    return written(walk, places)


def placed(walk: Walk, name: str, held: Held, world: int) -> list[Place]:
    """Return where the blocks of a result lie."""
    stored = walk.materialised(held, f"result {name}")
    return [
        Place(node=f"{name}[{rank}]", buffer=f"{stored.name}[{rank}]", map=index_map_of(stored))
        for rank in range(world)
    ]


def index_map_of(held: Stored) -> IndexMap | None:
    """Return where a value lies in its buffer; ``None`` for all of it, in order."""
    return None if held.at is None else index_map(held)


def written(walk: Walk, places: Sequence[Place], homes: Mapping[str, str] | None = None) -> Schedule:
    """Return the schedule of a walk.

    One module runs on all ranks, so a rank computes what only others need; what a rank alone does not need is left out
    there, and so is what stands for no instruction and is not used. What no rank needs is kept: the compiler left it.
    ``homes`` are buffers that are to have the name of another, which stays then.
    """
    homes = homes or {}
    items = _needed(walk.items, {each.buffer for each in places} | set(homes))
    named = {each.buffer for each in places} | {each.buffer for item in items for each in accesses(item)}
    named |= {new for old, new in homes.items() if old in named}
    shown = {each.buffer for each in places}
    buffers = [
        _shown(each, output=each.id in shown and not each.preexisting)
        for each in walk.buffers.made.values()
        if each.id in named
    ]
    return Schedule(
        devices={str(rank): PLACED for rank in range(walk.world)},
        buffers=tuple(buffers),
        items=tuple(items),
        places=tuple(places),
    )


def _needed(items: Sequence[Item], asked: set[str]) -> list[Item]:
    needed, live = set(asked), set[str]()
    for item in reversed(items):
        if needed & {each.buffer for each in accesses(item) if each.write}:
            needed |= {each.buffer for each in accesses(item) if not each.write}
            live.add(item.id)
    somewhere = {name.partition("[")[0] for name in live}
    kept = list[Item]()
    for item in reversed(items):
        standing_in = item.id.startswith((PUT, SHOWN)) or item.id.partition("[")[0] in somewhere
        written = {each.buffer for each in accesses(item) if each.write}
        if isinstance(item, Wait) or item.id in live or not standing_in or needed & written:
            needed |= {each.buffer for each in accesses(item) if not each.write}
            kept.insert(0, item)
    handles = {each.handle for each in kept if isinstance(each, Kernel | Copy | Collective)}
    return [item for item in kept if not isinstance(item, Wait) or item.handle in handles]


def _shown(buffer: Buffer, *, output: bool) -> Buffer:
    """Return a buffer that is read after the schedule, or is not."""
    return replace(buffer, output=output)


def _put(walk: Walk, name: str, shape: Shape, blocks: Sequence[Tensor], layouts: Sequence[Layout]) -> Stored:
    """Return an input as the devices are given it, and write the copies that this takes."""
    arrays = [place(to_array(block), layout) for block, layout in zip(blocks, layouts, strict=True)]
    if shape.dtype not in NUMPY:
        raise Unsupported(f"an input of the primitive type {shape.dtype}")
    close = all(storage.size == view.size and view.flags.c_contiguous for storage, view in arrays)
    for rank, (storage, _) in enumerate(arrays):
        one = f"{name}[{rank}]"
        walk.buffers.made[one] = Buffer(
            id=one, size=storage.nbytes, dtype=shape.dtype, device=str(rank), preexisting=True, held=True
        )
    if close:
        return Stored(name, shape, shape.dtype)
    target = walk.buffers.add(f"{name} as given", shape)
    items: list[Item] = []
    for rank, (storage, view) in enumerate(arrays):
        origin = view.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
        at = np.full(view.shape, origin // view.itemsize, np.int64)
        for index, stride in zip(np.indices(view.shape, np.int64), view.strides, strict=True):
            at += index * (stride // view.itemsize)
        at = at.reshape(shape.extents)
        found = fit(at, np.ones(at.shape, np.bool_)) if at.size else None
        if found is not None:
            both = (Access(buffer=f"{name}[{rank}]", map=found), access(target, rank, write=True))
            body = Body(extents=shape.extents, instructions=(Load(access=0), Store(access=1, of=0)))
            items.append(Kernel(id=f"{PUT}{name}[{rank}]", device=str(rank), accesses=both, bodies=(body,)))
    walk.items += items
    return target


def renamed(schedule: Schedule, buffers: Mapping[str, str], devices: Mapping[str, str]) -> Schedule:
    """Return a schedule with other names for some buffers and devices; of two buffers of one name the first stays."""

    def moved(each: Access) -> Access:
        return replace(each, buffer=buffers.get(each.buffer, each.buffer))

    def item(each: Item) -> Item:
        if isinstance(each, Kernel):
            device = devices.get(each.device, each.device)
            return replace(each, device=device, accesses=tuple(map(moved, each.accesses)))
        if isinstance(each, Collective):
            members = tuple(devices.get(name, name) for name in each.participants)
            return replace(
                each, participants=members, group=",".join(members), accesses=tuple(map(moved, each.accesses))
            )
        return replace(each, accesses=tuple(map(moved, each.accesses))) if isinstance(each, Copy) else each

    declared = {each.id for each in schedule.buffers}
    kept = [each for each in schedule.buffers if buffers.get(each.id, each.id) not in declared - {each.id}]
    return replace(
        schedule,
        buffers=tuple(
            replace(each, id=buffers.get(each.id, each.id), device=devices.get(each.device, each.device))
            for each in kept
        ),
        items=tuple(map(item, schedule.items)),
        places=tuple(replace(each, buffer=buffers.get(each.buffer, each.buffer)) for each in schedule.places),
    )
