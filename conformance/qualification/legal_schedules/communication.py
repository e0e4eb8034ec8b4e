"""Engines that keep memory for communication, and choose how collectives are done."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.backends.base import Unsupported
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.schedule import Collective, Item, Kernel, Schedule, accesses
from conformance.qualification.legal_schedules.engine import Legal as _Legal
from conformance.qualification.legal_schedules.engine import inner
from conformance.qualification.schedule_changes import each_buffer

ONE_SHOT = "one_shot"
ANY_SIZE = 1 << 40


class MeetsInLastingMemory(_Legal):
    """Operands that kernels compute are in symmetric memory, which lasts, and what is reduced there in one shot.

    As Inductor does where symmetric memory is on, on every backend that has it.
    """

    def change(self, made: Schedule) -> Schedule:
        """Move operands into memory of the communicator, and say how each collective is done."""
        own = operands(made)
        groups = {name: item.group for item in _meetings(made) for name in _read(item) if name in own}
        chosen = [_chosen(item, set(groups)) if isinstance(item, Collective) else item for item in made.items]
        return each_buffer(replace(made, items=tuple(chosen)), lambda each: _belonging(each, groups))

    def reschedule(
        self, asked: Case | Graph, *, iteration: int = 0, switched: bool = False, costs: int | None = None
    ) -> Schedule:
        """Return the schedule of a graph once more, or where no memory is kept for communication."""
        if isinstance(asked, Case):
            raise Unsupported("programs are scheduled as the native engine does")
        del iteration, costs
        return self.schedule(asked, planned=not switched)


def _belonging(buffer: Buffer, groups: dict[str, str]) -> Buffer:
    if buffer.id not in groups:
        return buffer
    return replace(
        buffer, communication=groups[buffer.id], communication_kind="symmetric", allocation=f"lasting {buffer.id}"
    )


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


def operands(made: Schedule) -> set[str]:
    """Return the inner buffers that kernels alone write and collectives of one communicator read.

    Those of a collective are all of one size, and each is read by that communicator on all of its members.
    """
    alone = inner(made)
    computed = {each.buffer for item in made.items if isinstance(item, Kernel) for each in item.accesses if each.write}
    other = {
        each.buffer for item in made.items if not isinstance(item, Kernel) for each in accesses(item) if each.write
    }
    users: dict[str, set[str]] = {}
    for item in _meetings(made):
        for name in _read(item):
            users.setdefault(name, set()).add(item.group)
    own = {name for name, groups in users.items() if name in alone and name in computed - other and len(groups) == 1}
    for item in _meetings(made) * 2:
        read = _read(item)
        if not own.issuperset(read) or len({alone[name].size for name in read}) > 1 or len(set(read)) != len(read):
            own -= set(read)
    return own
