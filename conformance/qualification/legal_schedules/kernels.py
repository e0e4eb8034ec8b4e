"""Engines that make other kernels of the same work: joined ones, and such that count otherwise."""

from __future__ import annotations

from typing import TypeGuard

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Alu, Body, Fetch, Index, Instruction, Load, Reduce, Store, sources
from conformance.cases.schedule.schedule import Item, Kernel, Schedule
from conformance.qualification.legal_schedules.engine import Legal as _Legal
from conformance.qualification.legal_schedules.engine import inner
from conformance.reference.schedule.facts import Facts

MOST_KERNELS = 3
"""Kernels that become one."""

GAP = 64


class JoinsByBarriers(_Legal):
    """Kernels of a device are one with a barrier of all points between them: cooperative groups, persistent kernels."""

    def change(self, made: Schedule) -> Schedule:
        """Make each kernel a later phase of the one before it."""
        items: list[Item] = []
        for item in made.items:
            last = items[-1] if items else None
            if _plain(item) and _plain(last) and last.device == item.device and len(last.bodies) < MOST_KERNELS:
                (body,) = item.bodies
                later = replace(_renumbered(body, 0, len(last.accesses)), phase=len(last.bodies))
                items[-1] = _joined(last, item, (*last.bodies, later))
            else:
                items.append(item)
        return replace(made, items=tuple(items))


class JoinsSideBySide(_Legal):
    """Kernels over one space that do not depend on each other are one with several stores: horizontal fusion."""

    def change(self, made: Schedule) -> Schedule:
        """Put the instructions of each such kernel behind those of the one before it."""
        pairs = {(first, second) for first, second, _, _ in Facts(made).conflicts}
        items: list[Item] = []
        inside: list[int] = []
        for number, item in enumerate(made.items):
            last = items[-1] if items else None
            free = not any((other, number) in pairs for other in inside)
            if free and _plain(item) and _plain(last) and _spaces(last) == _spaces(item) and last.device == item.device:
                before, (body,) = last.bodies[0], item.bodies
                more = _renumbered(body, len(before.instructions), len(last.accesses)).instructions
                both = replace(before, instructions=before.instructions + more)
                items[-1] = _joined(last, item, (both,))
                inside.append(number)
            else:
                items.append(item)
                inside = [number]
        return replace(made, items=tuple(items))


class CountsDown(_Legal):
    """A kernel counts its axes down, the innermost first: loops that a compiler has interchanged and reversed."""

    def change(self, made: Schedule) -> Schedule:
        """Turn the space of each kernel around."""
        return replace(made, items=tuple(_turned(item) if _plain(item) else item for item in made.items))


class PlacesInAPool(_Legal):
    """Inner buffers lie in one allocation of their device, apart by gaps, for good: views, and no memory plan."""

    def change(self, made: Schedule) -> Schedule:
        """Make each inner buffer a view of a pool."""
        alone, ends, placed = inner(made), dict[str, int](), list[Buffer]()
        for buffer in made.buffers:
            if buffer.id in alone and buffer.size:
                offset = ends.get(buffer.device, GAP)
                ends[buffer.device] = offset + -(-buffer.size // GAP) * GAP + GAP
                placed.append(replace(buffer, base=f"pool {buffer.device}", offset=offset))
            else:
                placed.append(buffer)
        pools = (Buffer(id=f"pool {name}", size=size, dtype="uint8", device=name) for name, size in ends.items())
        return replace(made, buffers=(*pools, *placed))


def _plain(item: Item | None) -> TypeGuard[Kernel]:
    """Return whether an item is a kernel of bodies that no variable is told."""
    return isinstance(item, Kernel) and bool(item.bodies) and not item.variables and item.handle is None


def _spaces(item: Kernel) -> tuple[object, ...]:
    return tuple(body.extents for body in item.bodies)


def _joined(first: Kernel, second: Kernel, bodies: tuple[Body, ...]) -> Kernel:
    by = tuple(dict.fromkeys(first.provenance + second.provenance))
    return replace(
        first, id=f"{first.id} {second.id}", accesses=first.accesses + second.accesses, bodies=bodies, provenance=by
    )


def _renumbered(body: Body, lines: int, places: int) -> Body:
    """Return a body behind so many instructions of a kernel that has so many accesses already."""
    found: list[Instruction] = []
    for each in body.instructions:
        moved = replace(each, access=each.access + places) if isinstance(each, Load | Fetch | Store) else each
        of = tuple(source + lines for source in sources(each))
        if isinstance(moved, Fetch):
            moved = replace(moved, at=of)
        elif of:
            moved = replace(moved, of=of if isinstance(moved, Alu) else of[0])
        found.append(moved)
    return replace(body, instructions=tuple(found))


def _turned(item: Kernel) -> Kernel:
    bodies = item.bodies
    whole = all(isinstance(extent, int) for body in bodies for extent in body.extents)
    if len(bodies) > 1 or not whole or any(isinstance(each, Index | Fetch) for each in bodies[0].instructions):
        return item
    rank = len(bodies[0].extents)
    lines = tuple(
        replace(each, axes=tuple(sorted(rank - 1 - axis for axis in each.axes))) if isinstance(each, Reduce) else each
        for each in bodies[0].instructions
    )
    own = tuple(
        replace(each, map=(_backwards(each.map[0]), *each.map[1:])) if each.map else each for each in item.accesses
    )
    body = replace(bodies[0], extents=bodies[0].extents[::-1], instructions=lines)
    return replace(item, accesses=own, bodies=(body,))


def _backwards(affine: Affine) -> Affine:
    extents = [int(str(extent)) for extent in affine.extents]
    last = sum(max(extent - 1, 0) * stride for extent, stride in zip(extents, affine.strides, strict=True))
    mask = affine.mask
    if mask is not None:
        ends = [(int(str(low)), int(str(high))) for low, high in mask]
        mask = tuple((extent - high, extent - low) for (low, high), extent in zip(ends, extents, strict=True))[::-1]
    strides = tuple(-stride for stride in affine.strides)[::-1]
    return replace(affine, extents=affine.extents[::-1], strides=strides, offset=affine.offset + last, mask=mask)
