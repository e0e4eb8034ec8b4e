"""Engines that keep memory for communication, and choose how collectives are done."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import ClassVar

from msgspec.structs import replace

from conformance.backends.base import Unsupported
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import Dim
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.schedule import Collective, Item, Kernel, Schedule, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.qualification.legal_schedules.engine import Legal as _Legal
from conformance.qualification.legal_schedules.engine import inner
from conformance.qualification.schedule_changes import each_buffer

ONE_SHOT = "one_shot"
ANY_SIZE = 1 << 40


class MeetsInLastingMemory(_Legal):
    """Operands that kernels compute are in symmetric memory, which lasts, and what is reduced there in one shot.

    As Inductor does where symmetric memory is on, on every backend that has it: of what has a size that is known.
    """

    known: ClassVar[bool] = True
    """Whether what is in memory of a communicator has a shape of numbers."""

    def change(self, made: Schedule) -> Schedule:
        """Move operands into memory of the communicator, and say how each collective is done."""
        shapes = _shapes(made)
        grown = {item.id for item in _meetings(made) if _grows(item, shapes)} if self.known else set()
        own = operands(made, grown)
        groups = {name: item.group for item in _meetings(made) for name in _read(item) if name in own}
        chosen = [_chosen(item, set(groups)) if isinstance(item, Collective) else item for item in made.items]
        return each_buffer(replace(made, items=tuple(chosen)), lambda each: _belonging(each, groups, shapes))

    def reschedule(
        self, asked: Case | Graph, *, iteration: int = 0, switched: bool = False, costs: int | None = None
    ) -> Schedule:
        """Return the schedule of a graph once more, or where no memory is kept for communication."""
        if isinstance(asked, Case):
            raise Unsupported("programs are scheduled as the native engine does")
        del iteration, costs
        return self.schedule(asked, planned=not switched)


def _shapes(made: Schedule) -> dict[str, tuple[Dim, ...]]:
    """Return the shapes of the nodes that buffers are said to hold, where all of the buffer is one."""
    nodes = {node.id: node for node in (made.graph.nodes if made.graph else ())}
    sizes = {each.id: each.size // NUMPY[each.dtype].itemsize for each in made.buffers}
    written = [access for item in made.items for access in accesses(item) if access.write and access.node in nodes]
    shapes = {access.buffer: nodes[access.node].shape for access in written if access.node is not None}
    fixed = {name for name, shape in shapes.items() if all(isinstance(extent, int) for extent in shape)}
    return {
        name: shape
        for name, shape in shapes.items()
        if name not in fixed or math.prod(int(str(extent)) for extent in shape) == sizes[name]
    }


def _grows(item: Collective, shapes: dict[str, tuple[Dim, ...]]) -> bool:
    """Return whether a variable gives the size of what a collective takes or gives."""
    met = [extent for access in accesses(item) for extent in shapes.get(access.buffer, ())]
    return any(not isinstance(extent, int) for extent in met)


def _belonging(buffer: Buffer, groups: dict[str, str], shapes: dict[str, tuple[Dim, ...]]) -> Buffer:
    if buffer.id not in groups:
        return buffer
    own = {"communication": groups[buffer.id], "communication_kind": "symmetric", "allocation": f"lasting {buffer.id}"}
    return replace(buffer, **own, shape=shapes.get(buffer.id))


def _chosen(item: Collective, own: set[str]) -> Collective:
    if item.op != "all_reduce" or item.parts:
        return item
    shot = set(_read(item)) <= own
    word = ONE_SHOT if shot else "ring"
    choice = Choice(on=True, threshold=ANY_SIZE, reductions=(str(item.attrs.get("op")),) if shot else ())
    return replace(item, algorithm=word, algorithms=(word,) * len(item.participants), choice=choice)


def _meetings(made: Schedule) -> list[Collective]:
    return [item for item in made.items if isinstance(item, Collective) and not item.parts]


def _read(item: Item) -> list[str]:
    return [access.buffer for access in accesses(item) if not access.write]


def operands(made: Schedule, but: Collection[str] = ()) -> set[str]:
    """Return the inner buffers that kernels alone write and collectives of one communicator read, not those of ``but``.

    Those of a collective are all of one size, and each is read by that communicator on all of its members, with the
    same others each time.
    """
    alone = inner(made)
    computed = {each.buffer for item in made.items if isinstance(item, Kernel) for each in item.accesses if each.write}
    other = {
        each.buffer for item in made.items if not isinstance(item, Kernel) for each in accesses(item) if each.write
    }
    users: dict[str, set[tuple[str, ...]]] = {}
    for item in _meetings(made):
        for name in _read(item):
            users.setdefault(name, set()).add((item.group, *_read(item)))
    own = {name for name, met in users.items() if name in alone and name in computed - other and len(met) == 1}
    for item in _meetings(made) * 2:
        read = _read(item)
        if (
            item.id in but
            or not own.issuperset(read)
            or len({alone[name].size for name in read}) > 1
            or len(set(read)) != len(read)
        ):
            own -= set(read)
    return own
