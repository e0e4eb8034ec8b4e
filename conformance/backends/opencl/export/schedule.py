"""The schedule in the neutral form of ``conformance.cases.schedule.schedule``, with bodies.

The items of one group of one collective are the parts of one neutral collective, so that devices may use each other's
memory there. Values that lie in the arena of a device are planned into it. A barrier has no item:
those after it on its devices are after all that it waits for. Buffers, places and labels have the names that the
judge gives to the nodes of the program's graph (``docs/schedules.md``). What another queue waits for is started, and
its event waited for (``events``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import structs

from conformance.backends.opencl.export.body import ProgramNodes, Writer, last
from conformance.backends.opencl.export.collective_order import entered, rows
from conformance.backends.opencl.export.events import Events
from conformance.backends.opencl.export.launches import launched
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Buffer, Collective, Computed, Elementwise, Fill, Node, Opened, Write
from conformance.backends.opencl.graph.reductions import COMBINES
from conformance.backends.opencl.lower import Lowered, Turn
from conformance.backends.opencl.render.fused import program
from conformance.backends.opencl.schedule.item import Barrier, Constant, Fused, Item, Kernel, Region, Transfer, pattern
from conformance.backends.opencl.schedule.schedule import Schedule
from conformance.backends.opencl.settings import Settings
from conformance.cases.graph.buffer import Buffer as NeutralBuffer
from conformance.cases.graph.buffer import Device
from conformance.cases.program.program import Attr
from conformance.cases.schedule import kernel_body
from conformance.cases.schedule import schedule as neutral
from conformance.cases.schedule.communication import SYMMETRIC, Choice
from conformance.cases.schedule.index_map import Affine, contiguous
from conformance.cases.tensor.tensor import Tensor

ARENA: Final = "uint8"


def exported(
    made: Schedule, lowered: Lowered, world: int, device: Device, settings: Settings | None = None, lasts: str = ""
) -> neutral.Schedule:
    """Return the neutral schedule of what was made of ``lowered`` for ``world`` ranks, each on such a device.

    Blocks of the communication pool are allocations whose names begin with ``lasts``.
    """
    names, asked = named(made, lowered), _asked(made, lowered)
    called = tuple(str(rank) for rank in range(world))
    return neutral.Schedule(
        devices=dict.fromkeys(called, device),
        buffers=tuple(buffers(made, results_of(made, lowered), names, called, lasts)),
        items=tuple(items(made, lowered, names, asked, called, settings)),
        places=tuple(_places(made, lowered, names)),
    )


def items(
    made: Schedule,
    lowered: Lowered,
    names: Mapping[Node, str],
    asked: ProgramNodes,
    devices: Sequence[str],
    settings: Settings | None = None,
) -> list[neutral.Item]:
    """Return the items on ``devices``, those of one group of one collective as one."""
    after, turns = _after(made.items), entered(made.items, lowered)
    listed = rows(made.items, after, lowered)
    events = Events(made.items, after, {number for turn, row in listed if turn is not None for number in row})
    found: list[neutral.Item] = []
    for turn, row in listed:
        wanted = [number for number in row if not isinstance(made.items[number], Barrier)]
        found.extend(events.waits(wanted))
        parts = tuple(_item(number, made.items[number], events, names, asked, devices) for number in wanted)
        if turn is None:
            found.extend(parts)
        else:
            found.append(_collective(f"collective {len(found)}", turn, lowered, parts, turns[turn], devices, settings))
    return found


def _asked(made: Schedule, lowered: Lowered) -> ProgramNodes:
    """Return the nodes of the program's graph that each node is: itself, and the write that is done with it."""
    own = dict(lowered.asked)
    own.update(
        (node, node.asked) for node in made.nodes if isinstance(node, Write | Elementwise | Computed) and node.asked
    )
    return {
        node: tuple(name for name in (own.get(node), made.inside[node].asked if node in made.inside else "") if name)
        for node in {*own, *made.inside}
    }


def _places(made: Schedule, lowered: Lowered, names: dict[Node, str]) -> Iterator[neutral.Place]:
    """Yield where every block of a result is that has elements."""
    for result, blocks in lowered.results.items():
        for rank, block in enumerate(blocks):
            if block is not None and block.node in made.places:
                view = block.view
                found = Affine(extents=view.shape, strides=view.strides, offset=view.offset)
                yield neutral.Place(node=f"{result}[{rank}]", buffer=names[block.node], map=(found,))


def named(made: Schedule, lowered: Lowered) -> dict[Node, str]:
    """Return a name for every node that lies somewhere: inputs, buffers and results by theirs and the rank.

    Nodes that lie in the storage of another have its name.
    """
    stored: list[Buffer | Opened] = [*made.inputs, *(node for node in made.nodes if isinstance(node, Opened))]
    known: dict[Node, str] = {node: f"{node.name}[{node.device}]" for node in stored}
    for result, blocks in lowered.results.items():
        for rank, block in enumerate(blocks):
            if block is not None:
                known.setdefault(made.roots.get(block.node, block.node), f"result {result}[{rank}]")
    names = {node: known.get(node, f"value {number}") for number, node in enumerate(made.places)}
    return names | {node: names[root] for node, root in made.roots.items() if root in names}


def results_of(made: Schedule, lowered: Lowered) -> set[Node]:
    """Return the nodes whose storages hold results."""
    blocks = (block for blocks in lowered.results.values() for block in blocks if block is not None)
    return {made.roots.get(block.node, block.node) for block in blocks}


def buffers(
    made: Schedule, results: set[Node], names: Mapping[Node, str], devices: Sequence[str], lasts: str = ""
) -> list[NeutralBuffer]:
    """Return a buffer for each storage, and for each value in an arena a planned part of it.

    Those of the communication pool belong to their group, and are allocations whose names begin with ``lasts``.
    """
    memory = made.memory
    stored = [node for node in memory.places if node not in made.roots]
    count = Counter(memory.places[node] for node in stored)
    arenas: dict[int, str] = {}
    found = []
    for node in stored:
        place, device = memory.places[node], devices[node.device]
        group = memory.groups.get(node)
        own: dict[str, Any] = (
            {} if group is None else {"communication": group_name(group), "communication_kind": SYMMETRIC}
        )
        lasting: dict[str, Any] = (
            {"allocation": f"{lasts}{memory.blocks[place]}"} if group is not None and lasts else {}
        )
        if count[place] > 1 and place not in arenas:
            arenas[place] = f"arena {len(arenas)}"
            arena = NeutralBuffer(id=arenas[place], size=memory.sizes[place], dtype=ARENA, device=device)
            found.append(structs.replace(arena, **own, **lasting))
        found.append(
            NeutralBuffer(
                id=names[node],
                size=node.size * FORMATS[node.dtype].itemsize,
                dtype=node.dtype,
                device=device,
                base=arenas.get(place),
                offset=memory.offsets[node],
                planned=place in arenas,
                preexisting=node in made.inputs,
                held=isinstance(node, Opened),
                output=node in results,
                **own,
                **({} if place in arenas else lasting),
            )
        )
    return found


def _after(items: Sequence[Item]) -> list[tuple[int, ...]]:
    """Return what each item is after, barriers replaced by what they wait for."""
    behind: dict[int, set[int]] = {}
    found = []
    for number, item in enumerate(items):
        plain = {each for each in item.after if not isinstance(items[each], Barrier)} | behind.get(item.device, set())
        if isinstance(item, Barrier):
            behind[item.device] = plain
        found.append(tuple(sorted(plain - {number})))
    return found


def _collective(
    name: str,
    turn: Turn,
    lowered: Lowered,
    parts: tuple[neutral.Kernel | neutral.Copy, ...],
    turns: tuple[int, ...],
    devices: Sequence[str],
    settings: Settings | None,
) -> neutral.Collective:
    """Return one collective, to which members come in ``turns``."""
    made = lowered.collectives[turn.collective]
    group = made.groups[turn.group]
    pieces = sum(each[:2] == turn[:2] for each in lowered.algorithms)
    algorithm = lowered.algorithms[turn]
    chosen = made.operation == "all_reduce" and settings is not None and settings.force is None and settings.pool
    return neutral.Collective(
        id=name,
        op=made.operation,
        participants=tuple(devices[rank] for rank in group),
        group=group_name(group),
        attrs=_attributes(made),
        algorithm=algorithm,
        algorithms=(algorithm,) * len(group),
        choice=one_shot_choice(settings) if settings is not None and chosen else None,
        call=f"call {turn.call} of {group_name(group)}" if pieces > 1 else "",
        turns=turns,
        parts=parts,
    )


def group_name(group: Sequence[int]) -> str:
    """Return the name of the communicator of some ranks."""
    return f"ranks {', '.join(str(rank) for rank in group)}"


def one_shot_choice(settings: Settings) -> Choice:
    """Return what decides whether an all_reduce is one-shot."""
    upto = settings.one_shot_upto
    return Choice(on=upto > 0, threshold=upto, reductions=tuple(COMBINES))


def _attributes(made: Collective) -> dict[str, Attr]:
    """Return the attributes as a step has them."""
    if made.operation == "ragged_all_to_all":
        return {}
    if made.operation == "shuffle":
        return {"sources": tuple(source for source, _ in made.attrs["pairs"])}
    return dict(made.attrs)


def _item(
    number: int, item: Item, events: Events, names: Mapping[Node, str], asked: ProgramNodes, devices: Sequence[str]
) -> neutral.Kernel | neutral.Copy:
    follows, name, handle = events.follows(number), f"item {number}", events.handle(number)
    written = [access.node for access in item.accesses if access.write]
    done = tuple(dict.fromkeys(name for node in written for name in asked.get(node, ())))
    if isinstance(item, Transfer):
        ends = ((item.source, item.start, False), (item.target, item.at, True))
        accesses = tuple(_bytes(region, start, item.size, names, asked, write) for region, start, write in ends)
        return neutral.Copy(id=name, after=follows, accesses=accesses, provenance=done, handle=handle)
    device = devices[item.device]
    if isinstance(item, Constant):
        access, body = _filled(item.node, names, asked)
        return neutral.Kernel(
            id=name,
            after=follows,
            device=device,
            accesses=(access,),
            bodies=(body,),
            provenance=done,
            handle=handle,
        )
    if isinstance(item, Fused):
        made, body = launched(item, names, asked)
        return neutral.Kernel(
            id=name,
            after=follows,
            device=device,
            accesses=made,
            bodies=(body,),
            provenance=tuple(dict.fromkeys((*item.launch.asked, *done))),
            program=program(item.launch),
            handle=handle,
        )
    if not isinstance(item, Kernel):
        raise TypeError(f"no neutral item is a {type(item).__name__}")
    written_out = Writer(item, names, asked)
    return neutral.Kernel(
        id=name,
        after=follows,
        device=device,
        accesses=tuple(written_out.accesses),
        bodies=written_out.bodies,
        provenance=done,
        handle=handle,
    )


def _bytes(
    region: Region, start: int, size: int, names: Mapping[Node, str], asked: ProgramNodes, write: bool
) -> neutral.Access:
    first = region.first * FORMATS[region.node.dtype].itemsize + start
    node = last(asked, region.node) if write else None
    return neutral.Access(buffer=names[region.node], write=write, ranges=((first, first + size),), node=node)


def _filled(node: Fill, names: Mapping[Node, str], asked: ProgramNodes) -> tuple[neutral.Access, kernel_body.Body]:
    value = Tensor(dtype=node.dtype, shape=(), bits=pattern(node).hex())
    access = neutral.Access(buffer=names[node], write=True, map=contiguous((node.size,)), node=last(asked, node))
    instructions = kernel_body.Constant(value=value), kernel_body.Store(access=0, of=0)
    return access, kernel_body.Body(extents=(node.size,), instructions=instructions)
