"""Mistakes with memory of communicators, and with the choice of an algorithm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import count
from typing import ClassVar

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Collective, Schedule
from conformance.qualification.legal_schedules.communication import ONE_SHOT, MeetsInLastingMemory
from conformance.qualification.schedule_changes import each_buffer


class _Meets(MeetsInLastingMemory, ABC):
    """Schedules graphs with memory for communication, and makes a mistake with it."""

    breaks: ClassVar[str]
    corpus: ClassVar[tuple[str, ...]] = ()

    def change(self, made: Schedule) -> Schedule:
        """Return the schedule with the mistake, where there is occasion for it."""
        return self.spoil(super().change(made))

    @abstractmethod
    def spoil(self, made: Schedule) -> Schedule:
        """Return the schedule with the mistake."""


def _last(made: Schedule) -> dict[str, Buffer]:
    """Return of each collective of memory of its communicator what its last member reads."""
    known = {each.id: each for each in made.buffers if each.communication}
    found: dict[str, Buffer] = {}
    for item in made.items:
        if isinstance(item, Collective) and len(item.participants) > 1:
            read = [known[each.buffer] for each in item.accesses if not each.write and each.buffer in known]
            if read:
                found[item.id] = read[-1]
    return found


def _each(made: Schedule, change: Callable[[Collective], Collective]) -> Schedule:
    items = tuple(change(each) if isinstance(each, Collective) else each for each in made.items)
    return replace(made, items=items)


class InputsAreRegisteredAsTheyAre(_Meets):
    """What a collective reads is registered where it lies, an input too, which is elsewhere the next time."""

    breaks = "communication.C1"

    def spoil(self, made: Schedule) -> Schedule:
        """Give every operand to its communicator."""
        groups = {
            access.buffer: item.group
            for item in made.items
            if isinstance(item, Collective)
            for access in item.accesses
            if not access.write
        }
        return each_buffer(
            made, lambda b: replace(b, communication=groups[b.id]) if b.preexisting and b.id in groups else b
        )


class RegistersWhatGrows(_Meets):
    """What a variable gives the size of is registered as well, and the next run brings more than was registered."""

    breaks = "communication.C2"
    known = False

    def spoil(self, made: Schedule) -> Schedule:
        """Return it as it is: the engine's own check is what is left out."""
        return made


class OnePoolForAllCommunicators(_Meets):
    """A pool is shared by communicators, and a block of it belongs to whom it was first given."""

    breaks = "communication.C3"

    def spoil(self, made: Schedule) -> Schedule:
        """Give each block to a communicator that does not use it."""
        return each_buffer(made, lambda b: replace(b, communication=f"not {b.communication}") if b.communication else b)


class PoolOfAnotherKind(_Meets):
    """The pool is registered with the library that moves bytes, and its blocks are taken for symmetric."""

    breaks = "communication.C4"

    def spoil(self, made: Schedule) -> Schedule:
        """Put each block into a pool that is registered with its communicator."""
        own = [each for each in made.buffers if each.allocation]
        pools = [replace(each, id=f"pool of {each.id}", dtype="uint8", communication_kind="registered") for each in own]
        bases = {each.id: pool.id for each, pool in zip(own, pools, strict=True)}
        placed = each_buffer(
            made, lambda b: replace(b, base=bases[b.id], planned=True, allocation="") if b.id in bases else b
        )
        return replace(placed, buffers=(*pools, *placed.buffers))


class OneRankServesAnOlderBlock(_Meets):
    """One rank's allocator hands out a block of an earlier collective, the others' new ones. Seen in sglang#29946."""

    breaks = "communication.C6"

    def spoil(self, made: Schedule) -> Schedule:
        """Let what the last members read lie in one allocation, one behind the other."""
        offset, places = 0, {}
        for each in _last(made).values():
            if each.id not in places:
                places[each.id] = offset
                offset += each.size
        devices = {each.device for each in made.buffers if each.id in places}
        if len(places) < 2 or len(devices) > 1:
            return made
        pool = Buffer(id="older", size=offset, dtype="uint8", device=devices.pop(), allocation="older")
        placed = each_buffer(
            made,
            lambda b: (
                replace(b, base="older", offset=places[b.id], planned=True, allocation="") if b.id in places else b
            ),
        )
        return replace(placed, buffers=(pool, *placed.buffers))


class OneRankAllocatesMore(_Meets):
    """The last rank's block is rounded up, and its peers read beyond their own. Seen in sglang#33037."""

    breaks = "communication.C7"

    def spoil(self, made: Schedule) -> Schedule:
        """Enlarge what the last member reads."""
        larger = {each.id for each in _last(made).values()}
        return each_buffer(made, lambda b: replace(b, size=2 * b.size) if b.id in larger else b)


class OneRankServesFromTheMiddle(_Meets):
    """One rank's allocator has served once more, so that its block begins elsewhere. Seen in sglang#33037."""

    breaks = "communication.C8"

    def spoil(self, made: Schedule) -> Schedule:
        """Put what the last member reads into the middle of a larger allocation."""
        own = {each.id for each in _last(made).values()}
        pools = tuple(
            Buffer(
                id=f"pool of {b.id}", size=b.size + 1024, dtype="uint8", device=b.device, allocation=f"pool of {b.id}"
            )
            for b in made.buffers
            if b.id in own
        )
        moved = each_buffer(
            made,
            lambda b: (
                replace(b, base=f"pool of {b.id}", offset=1024, planned=True, allocation="") if b.id in own else b
            ),
        )
        return replace(moved, buffers=(*pools, *moved.buffers))


class ResultsStayInLastingMemory(_Meets):
    """What lies in memory of a communicator is handed out as it lies there, to be overwritten by the next run."""

    breaks = "communication.C9"

    def spoil(self, made: Schedule) -> Schedule:
        """Let it be seen from outside."""
        return each_buffer(made, lambda b: replace(b, output=True) if b.allocation else b)


class TakesFromThePoolAnew(_Meets):
    """Memory is taken from the pool in each iteration, and what was registered is not what is used."""

    breaks = "communication.C10"

    def __init__(self) -> None:
        """Begin with the first block."""
        super().__init__()
        self._taken = count()

    def spoil(self, made: Schedule) -> Schedule:
        """Name each allocation anew."""
        number = next(self._taken)
        return each_buffer(made, lambda b: replace(b, allocation=f"{number} {b.id}") if b.allocation else b)


class ThresholdInElements(_Meets):
    """The bytes of an operand are compared with a number of elements."""

    breaks = "communication.C12"

    def spoil(self, made: Schedule) -> Schedule:
        """Say a threshold of a quarter of what is done in one shot."""
        sizes = {each.id: each.size for each in made.buffers}

        def less(item: Collective) -> Collective:
            if item.algorithm != ONE_SHOT or item.choice is None:
                return item
            return replace(item, choice=replace(item.choice, threshold=sizes[item.accesses[0].buffer] // 4))

        return _each(made, less)


class RanksChooseByThemselves(_Meets):
    """The last rank measures something else, and chooses another algorithm than its peers wait in."""

    breaks = "communication.C14"

    def spoil(self, made: Schedule) -> Schedule:
        """Let the last participant take another one."""
        return _each(
            made, lambda e: replace(e, algorithms=(*e.algorithms[:-1], "tree")) if len(e.algorithms) > 1 else e
        )


class ReversedByCosts(_Meets):
    """Ranks order collectives by what they measured, the last of them the other way round. Seen in torchrec#4149."""

    breaks = "communication.C23"

    def spoil(self, made: Schedule) -> Schedule:
        """Say in which turns each member comes."""
        met = [each for each in made.items if isinstance(each, Collective)]
        turns = {each.id: tuple(n for _ in each.participants) for n, each in enumerate(met)}
        return _each(made, lambda each: replace(each, turns=turns[each.id]))

    def reschedule(
        self, asked: Case | Graph, *, iteration: int = 0, switched: bool = False, costs: int | None = None
    ) -> Schedule:
        """Turn the order of the last member of each, where costs are asked about."""
        made = super().reschedule(asked, iteration=iteration, switched=switched)
        last = len(made.items)
        if costs is None:
            return made
        return _each(made, lambda e: replace(e, turns=(*e.turns[:-1], last - e.turns[-1])) if e.turns else e)


class OneListOfPassesIsWrong(_Meets):
    """Values are right with the passes that are on by default, and wrong with others. Seen in openxla/xla#18568."""

    breaks = "communication.C22"
    corpus = ("openxla/xla#18568",)

    def spoil(self, made: Schedule) -> Schedule:
        """Return it as it is: the mistake is in another list of passes."""
        return made

    def reschedule(
        self, asked: Case | Graph, *, iteration: int = 0, switched: bool = False, costs: int | None = None
    ) -> Schedule:
        """Take the greatest where sums are asked for, where passes are the other way."""
        made = super().reschedule(asked, iteration=iteration, switched=switched, costs=costs)
        if not switched:
            return made
        return _each(made, lambda e: replace(e, attrs={"op": "max"}) if e.attrs.get("op") == "sum" else e)
