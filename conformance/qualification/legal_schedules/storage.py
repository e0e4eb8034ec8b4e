"""Engines that use memory otherwise: in place, rounded, in arenas, under other names."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.index_map import contiguous
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Access, Collective, Item, Kernel, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.qualification.legal_schedules.engine import Legal as _Legal
from conformance.qualification.legal_schedules.engine import inner, wholly
from conformance.qualification.schedule_changes import each_access, each_buffer
from conformance.reference.schedule.facts import Facts

Lives = dict[str, tuple[int, int]]

PAGE = 4096


def lives(made: Schedule) -> Lives:
    """Return the first and the last leaf that use each buffer."""
    found: Lives = {}
    for number, own in enumerate(Facts(made).touches):
        for touch in own:
            found[touch.root] = (found.get(touch.root, (number, number))[0], number)
    return found


def planned(made: Schedule, *, in_place: bool, anyhow: bool = False, round_to: int = 1, step: int = 256) -> Schedule:
    """Return the schedule with its inner buffers in an arena a device, each where nobody is by then.

    ``in_place``: what a kernel writes takes over the bytes of what it reads last, element by element; or ``anyhow``,
    which is wrong.
    """
    used, alone = lives(made), inner(made)
    taken: list[tuple[str, int, int, int, int]] = []
    found: dict[str, Buffer] = {}
    for name, (first, last) in sorted(used.items(), key=lambda each: each[1]):
        if name not in alone:
            continue
        buffer = alone[name]
        heir = _heir(made, buffer, first, used, found, anyhow=anyhow) if in_place else None
        offset = heir.offset if heir is not None else 0
        while heir is None and any(
            device == buffer.device
            and offset < stop
            and start < offset + max(buffer.size, 1)
            and since <= last
            and first <= end
            for device, start, stop, since, end in taken
        ):
            offset += step
        if heir is not None and any(
            device == buffer.device and offset < stop and start < offset + buffer.size and first < end
            for device, start, stop, since, end in taken
        ):
            return made
        taken.append((buffer.device, offset, offset + max(buffer.size, 1), first, last))
        found[name] = replace(buffer, base=f"arena {buffer.device}", offset=offset, planned=True)
    ends: dict[str, int] = {}
    for device, _, stop, _, _ in taken:
        ends[device] = max(ends.get(device, 0), -(-stop // round_to) * round_to)
    arenas = [Buffer(id=f"arena {name}", size=size, dtype="uint8", device=name) for name, size in ends.items()]
    return replace(made, buffers=(*arenas, *(found.get(each.id, each) for each in made.buffers)))


def _heir(
    made: Schedule, buffer: Buffer, first: int, used: Lives, found: dict[str, Buffer], *, anyhow: bool
) -> Buffer | None:
    """Return the buffer whose last reader is the kernel that writes another one, element by element, if any is."""
    item = made.items[first]
    write = wholly(item, buffer)
    if write is None or not isinstance(item, Kernel):
        return None
    reads = [access for access in item.accesses if not access.write]
    for read in reads:
        at = found.get(read.buffer)
        same = [access for access in reads if access.buffer == read.buffer]
        fits = at is not None and (at.size, at.dtype) == (buffer.size, buffer.dtype)
        if fits and used[read.buffer][1] == first and (anyhow or all(access.map == write.map for access in same)):
            return at
    return None


class ReusesInPlace(_Legal):
    """An elementwise kernel writes where its operand was, if that dies with it: every framework's in-place pass."""

    def change(self, made: Schedule) -> Schedule:
        """Plan with operands that die taken over."""
        return planned(made, in_place=True)


class PlansWithoutReuseInPlace(_Legal):
    """A planner gives bytes on only when their last reader is done."""

    def change(self, made: Schedule) -> Schedule:
        """Plan by lives alone."""
        return planned(made, in_place=False)


class RoundsArenas(_Legal):
    """An arena is taken from the system in pages of 4 KiB, and each buffer begins at a multiple of 512 bytes."""

    def change(self, made: Schedule) -> Schedule:
        """Plan with a step of 512, in whole pages."""
        return planned(made, in_place=False, round_to=PAGE, step=512)


class RoundsBuffers(_Legal):
    """Every buffer is rounded up to a power of two, so that a pool of few sizes serves all; shapes are kept."""

    def change(self, made: Schedule) -> Schedule:
        """Round up inner buffers, and say what shape they were asked for with."""
        graph = made.graph
        shapes = {node.id: node.shape for node in graph.nodes} if graph else {}
        alone = inner(made)
        written = {
            a.buffer: a.node for item in made.items if isinstance(item, Kernel) for a in item.accesses if a.write
        }

        def rounded(buffer: Buffer) -> Buffer:
            if buffer.id not in alone:
                return buffer
            label = written.get(buffer.id)
            shape = shapes[label] if label else None
            if shape is not None and not all(isinstance(extent, int) for extent in shape):
                shape = None  # it has room for the value at hand alone
            return replace(buffer, size=1 << max(buffer.size - 1, 7).bit_length(), shape=shape)

        # A copy or a collective moves all of a buffer, so those stay as they are.
        moved = {a.buffer for item in made.items if not isinstance(item, Kernel) for a in getattr(item, "accesses", ())}
        return each_buffer(made, lambda buffer: buffer if buffer.id in moved else rounded(buffer))


class NamesByNumber(_Legal):
    """Buffers and items have numbers for names, and nothing is told of what they are."""

    def change(self, made: Schedule) -> Schedule:
        """Name inner buffers and all items anew, and drop the labels."""
        names = {name: f"#{number}" for number, name in enumerate(inner(made))}
        items = [replace(item, id=f"@{number}", provenance=()) for number, item in enumerate(made.items)]
        bare = each_buffer(replace(made, items=tuple(items)), lambda b: replace(b, id=names.get(b.id, b.id)))
        return each_access(
            bare, lambda access: replace(access, buffer=names.get(access.buffer, access.buffer), node=None)
        )


class MeetsInPlace(_Legal):
    """A collective is done in place of clones of its blocks, as who has only collectives in place does it."""

    def change(self, made: Schedule) -> Schedule:
        """Clone the blocks of each collective whose members all receive as much as they give."""
        known, nodes = {buffer.id: buffer for buffer in made.buffers}, Facts(made).nodes
        items: list[Item] = []
        for item in made.items:
            if not isinstance(item, Collective):
                items.append(item)
                continue
            count = len(item.participants)
            taken, given = item.accesses[:-count], item.accesses[-count:]
            pairs = list(zip(taken, given, strict=False))
            if len(taken) != count or any(_size(known, one) != _size(known, two) for one, two in pairs):
                items.append(item)
                continue
            for read, write in pairs:
                source, target = known[read.buffer], known[write.buffer]
                every = contiguous((source.size // NUMPY[source.dtype].itemsize,))
                code = Body(extents=every[0].extents, instructions=(Load(access=0), Store(access=1, of=0)))
                own = (Access(buffer=source.id, map=every), Access(buffer=target.id, write=True, map=every))
                clone = Kernel(id=f"{item.id} clone {source.id}", device=source.device, accesses=own, bodies=(code,))
                items.append(clone)
            of = nodes[item.provenance[0]].of if item.provenance else (None,) * count
            met = (replace(read, buffer=write.buffer, node=name) for (read, write), name in zip(pairs, of, strict=True))
            items.append(replace(item, accesses=(*met, *given)))
        return replace(made, items=tuple(items))


def _size(known: dict[str, Buffer], access: Access) -> tuple[int, str]:
    return known[access.buffer].size, known[access.buffer].dtype


class OwnsItsCommunicationBuffers(_Legal):
    """What a collective writes is registered with the communicator, in an arena with everything else.

    Not so where a collective brings it beside what is not registered: then nothing is that this collective uses.
    """

    def change(self, made: Schedule) -> Schedule:
        """Plan, and name the group of the buffers that collectives write."""
        groups: dict[str, str] = {}
        items = [item for item in made.items if isinstance(item, Collective)]
        for item in items:
            groups |= {access.buffer: item.group for access in item.accesses if access.write}
        buffers = {buffer.id: buffer for buffer in made.buffers}
        while uneven := next((item for item in items if not _as_many_on_all(item, buffers, groups)), None):
            for access in uneven.accesses:
                groups.pop(access.buffer, None)
        return each_buffer(
            planned(made, in_place=False), lambda buffer: replace(buffer, communication=groups.get(buffer.id, ""))
        )


def _as_many_on_all(item: Collective, buffers: dict[str, Buffer], groups: dict[str, str]) -> bool:
    """Return whether each participant brings as many buffers that are registered."""
    own = {access.buffer for access in item.accesses if access.buffer in groups}
    return len({sum(buffers[name].device == device for name in own) for device in item.participants}) == 1
