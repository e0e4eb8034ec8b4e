"""Engines that do more or other work than is needed: again, in parts, by way of other buffers."""

from __future__ import annotations

import math

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import sizes
from conformance.cases.schedule.index_map import Affine, IndexMap, contiguous
from conformance.cases.schedule.kernel_body import (
    Body,
    Constant,
    Index,
    Instruction,
    Load,
    Reduce,
    Store,
)
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Place, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.qualification.legal_schedules.engine import Legal as _Legal
from conformance.qualification.legal_schedules.engine import inner, wholly
from conformance.reference.schedule.facts import Facts


class ComputesAgain(_Legal):
    """What several kernels read is computed again for each of them, as who saves memory by rematerialising does it."""

    def change(self, made: Schedule) -> Schedule:
        """Repeat a kernel before each further reader of what it wrote, where what it reads is still there."""
        facts, alone = Facts(made), inner(made)
        makers = {
            name: number
            for number, item in enumerate(made.items)
            for name, buffer in alone.items()
            if wholly(item, buffer) is not None
        }
        seen: set[str] = set()
        items: list[Item] = []
        added: list[Buffer] = []
        for number, item in enumerate(made.items):
            names: dict[str, str] = {}
            for access in item.accesses if isinstance(item, Kernel) else ():
                name, maker = access.buffer, makers.get(access.buffer, number)
                if access.write or name in names or maker >= number or not _still(facts, maker, number):
                    continue
                if name in seen:
                    again = made.items[maker]
                    assert isinstance(again, Kernel)
                    fresh = replace(alone[name], id=f"{name} again {len(items)}")
                    added.append(fresh)
                    names[name] = fresh.id
                    items.append(replace(_to(again, {name: fresh.id}), id=f"{again.id} again {len(items)}"))
                seen.add(name)
            items.append(_to(item, names) if names and isinstance(item, Kernel) else item)
        return replace(made, items=tuple(items), buffers=(*made.buffers, *added))


def _still(facts: Facts, maker: int, number: int) -> bool:
    """Return whether nothing writes what a leaf reads before another one begins."""
    return not any(first == maker and own.write and not other.write and second < number
                   for first, second, other, own in facts.conflicts)  # fmt: skip


def _to(item: Kernel, names: dict[str, str]) -> Kernel:
    return replace(
        item,
        accesses=tuple(replace(access, buffer=names.get(access.buffer, access.buffer)) for access in item.accesses),
    )


class SplitsKernels(_Legal):
    """A kernel is launched in two halves of its first axis, as one that is too large for a grid is."""

    def change(self, made: Schedule) -> Schedule:
        """Launch each elementwise kernel twice."""
        return replace(made, items=tuple(part for item in made.items for part in _halves(item)))


def _halves(item: Item) -> tuple[Item, ...]:
    if not isinstance(item, Kernel) or len(item.bodies) != 1:
        return (item,)
    (body,) = item.bodies
    whole = body.extents[0] if body.extents else 1
    mixing = any(isinstance(each, Reduce | Index) for each in body.instructions)
    writes = {access.buffer for access in item.accesses if access.write}
    shared = any(access.buffer in writes for access in item.accesses if not access.write)
    if mixing or shared or not isinstance(whole, int) or whole < 2:
        return (item,)
    found = []
    for first, beyond in ((0, whole // 2), (whole // 2, whole)):
        parts = tuple(
            replace(access, map=_part(access.map, first, beyond)) if access.map else access for access in item.accesses
        )
        inside = replace(body, extents=(beyond - first, *body.extents[1:]))
        found.append(replace(item, id=f"{item.id} from {first}", accesses=parts, bodies=(inside,)))
    return tuple(found)


def _part(index_map: IndexMap, first: int, beyond: int) -> IndexMap:
    top, *rest = index_map
    mask = top.mask
    if mask is not None:
        low, high = (end if isinstance(end, int) else beyond for end in mask[0])
        mask = ((max(low - first, 0), min(max(high - first, 0), beyond - first)), *mask[1:])
    extents = (beyond - first, *top.extents[1:])
    return (replace(top, extents=extents, offset=top.offset + first * top.strides[0], mask=mask), *rest)


class FillsConstants(_Legal):
    """Constants are tensors like all others: a kernel fills a buffer with each before it is used."""

    def change(self, made: Schedule) -> Schedule:
        """Fill a buffer with each constant of a kernel, and load it."""
        items: list[Item] = []
        added: list[Buffer] = []
        for item in made.items:
            if not isinstance(item, Kernel) or len(item.bodies) != 1 or not item.accesses[:-1]:
                items.append(item)
                continue
            (body,), accesses, lines = item.bodies, list(item.accesses), list[Instruction]()
            for line in body.instructions:
                if not isinstance(line, Constant):
                    lines.append(line)
                    continue
                fresh = Buffer(
                    id=f"constant {len(added)}",
                    size=NUMPY[line.value.dtype].itemsize,
                    dtype=line.value.dtype,
                    device=item.device,
                )
                added.append(fresh)
                code = Body(extents=(1,), instructions=(line, Store(access=0, of=0)))
                write = Access(buffer=fresh.id, write=True, map=contiguous((1,)))
                items.append(Kernel(id=f"fill {len(added)}", device=item.device, accesses=(write,), bodies=(code,)))
                everywhere = (Affine(extents=body.extents, strides=(0,) * len(body.extents)),)
                lines.append(Load(access=len(accesses)))
                accesses.append(Access(buffer=fresh.id, map=everywhere))
            inside = replace(body, instructions=tuple(lines))
            items.append(replace(item, accesses=tuple(accesses), bodies=(inside,)))
        return replace(made, items=tuple(items), buffers=(*made.buffers, *added))


class MaterialisesViews(_Legal):
    """A result that is a view of something gets bytes of its own, in order: JAX's arrays and torch's contiguous()."""

    def change(self, made: Schedule) -> Schedule:
        """Move every result that is a name of storage, or lies otherwise, at the end."""
        facts = Facts(made)
        places = {place.node: place for place in made.places}
        added = []
        for name in made.graph.results if made.graph else ():
            node, place = facts.nodes[name], places.get(name)
            shape = sizes(node.shape, facts.values)
            if place is not None and place.map is not None and place.map != contiguous(shape):
                taken = Access(buffer=place.buffer, map=place.map)
            elif name in facts.stored and (facts.stored[name].at >= 0).all() and facts.stored[name].at.size:
                found = _affine(facts, name, shape)
                if found is None:
                    continue
                taken = Access(buffer=facts.stored[name].buffer, map=found)
            else:
                continue
            places.pop(name, None)
            added.append(_result(facts, name, (Load(access=0),), (taken,)))
        return _with(replace(made, places=tuple(places.values())), added)


def _affine(facts: Facts, name: str, shape: tuple[int, ...]) -> IndexMap | None:
    """Return the map of a name of storage, where its elements are evenly apart along every axis."""
    at = facts.stored[name].at
    strides = [int(at.take(1, axis).flat[0] - at.flat[0]) if n > 1 else 0 for axis, n in enumerate(shape)]
    first = int(at.reshape(-1)[0])
    made = (Affine(extents=shape, strides=tuple(strides), offset=first),)
    found, _ = facts.elements(Access(buffer=facts.stored[name].buffer, map=made), {})
    return made if (found == at).all() else None


def _result(
    facts: Facts, name: str, value: tuple[Load | Constant, ...], taken: tuple[Access, ...]
) -> tuple[Buffer, Item, Place]:
    """Return a buffer for a result, the kernel that moves a value there, and that it is its place."""
    node = facts.nodes[name]
    shape = sizes(node.shape, facts.values)
    size = math.prod(shape) * NUMPY[node.dtype].itemsize
    made = Buffer(id=f"result {name}", size=size, dtype=node.dtype, device=node.device)
    write = Access(buffer=made.id, write=True, map=contiguous(shape), node=name)
    body = Body(extents=shape, instructions=(*value, Store(access=len(taken), of=0)))
    # Who moves what a name of storage shows at the end does not do the assign that gave the name.
    computed = () if name in facts.stored else (name,)
    kernel = Kernel(
        id=f"result {name}", device=node.device, accesses=(*taken, write), bodies=(body,), provenance=computed
    )
    return made, kernel, Place(node=name, buffer=made.id)


def _with(made: Schedule, added: list[tuple[Buffer, Item, Place]]) -> Schedule:
    return replace(
        made,
        buffers=(*made.buffers, *(buffer for buffer, _, _ in added)),
        items=(*made.items, *(item for _, item, _ in added)),
        places=(*made.places, *(place for _, _, place in added)),
    )


class CopiesAgain(_Legal):
    """A device that has a copy is sent another one: what is there is not kept track of."""

    def change(self, made: Schedule) -> Schedule:
        """Make each copy twice; what comes after reads the second."""
        alone, items, added = inner(made), list[Item](), list[Buffer]()
        names: dict[str, str] = {}
        for each in made.items:
            item = _reading(each, names)
            items.append(item)
            target = next((a.buffer for a in item.accesses if a.write), "") if isinstance(item, Copy) else ""
            if isinstance(item, Copy) and target in alone:
                fresh = replace(alone[target], id=f"{target} again")
                added.append(fresh)
                names[target] = fresh.id
                own = tuple(replace(a, buffer=fresh.id) if a.write else a for a in item.accesses)
                items.append(replace(item, id=f"{item.id} again", accesses=own))
        return replace(made, items=tuple(items), buffers=(*made.buffers, *added))


def _reading(item: Item, names: dict[str, str]) -> Item:
    """Return an item that reads other buffers."""
    if not isinstance(item, Kernel | Copy | Collective):
        return item
    own = (each if each.write else replace(each, buffer=names.get(each.buffer, each.buffer)) for each in item.accesses)
    return replace(item, accesses=tuple(own))


class PacksOperands(_Legal):
    """What a kernel reads in another order than it lies is packed first, so that kernels are few (GEMM libraries)."""

    def change(self, made: Schedule) -> Schedule:
        """Move what a kernel without folds reads by another map than in order into a buffer of its own before it."""
        facts = Facts(made)
        items: list[Item] = []
        added: list[Buffer] = []
        for item in made.items:
            if not isinstance(item, Kernel) or len(item.bodies) != 1 or item.variables:
                items.append(item)
                continue
            shape = sizes(item.bodies[0].extents, facts.values)
            accesses = []
            for access in item.accesses:
                # Of what is taken by index no point is known before.
                known = access.map is not None and access.map[0].extents == item.bodies[0].extents
                if access.write or not known or access.map == contiguous(shape) or not math.prod(shape):
                    accesses.append(access)
                    continue
                like = facts.buffers[access.buffer]
                size = math.prod(shape) * NUMPY[like.dtype].itemsize
                fresh = Buffer(id=f"packed {len(added)}", size=size, dtype=like.dtype, device=like.device)
                added.append(fresh)
                write = Access(buffer=fresh.id, write=True, map=contiguous(shape))
                body = Body(extents=item.bodies[0].extents, instructions=(Load(access=0), Store(access=1, of=0)))
                own = (replace(access, node=None), write)
                items.append(Kernel(id=f"pack {len(added)}", device=item.device, accesses=own, bodies=(body,)))
                accesses.append(replace(access, buffer=fresh.id, map=contiguous(shape)))
            items.append(replace(item, accesses=tuple(accesses)))
        return replace(made, items=tuple(items), buffers=(*made.buffers, *added))
