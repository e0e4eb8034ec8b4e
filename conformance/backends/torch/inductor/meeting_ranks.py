"""What ranks do one by one as one schedule: where they meet is one item, and each goes on in its own order.

An item lists what it is after: what its rank did last, and what that waited for. One wait stands for those of all
ranks, and is listed where the first of them waits, so that a rank's own items are after it from its own wait on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from conformance.backends.attribution import framework
from conformance.backends.torch.inductor.rank_events import Entered, Event, Key, Waited
from conformance.cases.program.program import Attr
from conformance.cases.schedule.schedule import Access, Collective, Item, Kernel, Wait


class NeverMet(RuntimeError):
    """A rank enters a collective that another member never enters, or that is another there."""


def meeting(ranks: Sequence[Sequence[Event]]) -> tuple[Item, ...]:
    """Return the items of all ranks; raise ``NeverMet`` where members enter different collectives."""
    return tuple(_Meeting(ranks).items())


class _Meeting:
    def __init__(self, ranks: Sequence[Sequence[Event]]) -> None:
        self._ranks = ranks
        self._at = [0] * len(ranks)
        self._after: list[tuple[str, ...]] = [()] * len(ranks)
        self._entered: dict[Key, dict[int, Entered]] = {}
        self._turns: dict[tuple[int, Key], int] = {}
        for rank, events in enumerate(ranks):
            for event in events:
                if isinstance(event, Entered):
                    self._turns[rank, event.key] = sum(known == rank for known, _ in self._turns)
                    self._entered.setdefault(event.key, {})[rank] = event
        self._written: set[Key] = set()
        self._waits: dict[tuple[Key, int], str] = {}
        self._waited: set[tuple[int, Key, int]] = set()
        self._check()

    def _check(self) -> None:
        for here in self._entered.values():
            one = next(iter(here.values()))
            missing = [rank for rank in one.members if rank not in here]
            if missing:
                with framework():
                    raise NeverMet(
                        f"rank {min(here)} enters {one.call.op} of {list(one.members)}; rank {missing[0]} does not"
                    )

    def items(self) -> Iterator[Item]:
        """Yield the items: kernels as far as they go, then what all members have come to, then what one has."""
        while any(self._next(rank) is not None for rank in range(len(self._ranks))):
            for rank in range(len(self._ranks)):
                yield from self._kernels(rank)
            waiting = [rank for rank in range(len(self._ranks)) if self._next(rank) is not None]
            if waiting:
                yield from self._meet(next(self._first_choices(waiting)))

    def _first_choices(self, waiting: Sequence[int]) -> Iterator[int]:
        """Yield the ranks that go on first: with all others, by a wait, by any."""
        yield from (each for each in waiting if self._all_here(each))
        yield from (each for each in waiting if isinstance(self._next(each), Waited))
        yield from waiting

    def _next(self, rank: int) -> Event | None:
        return self._ranks[rank][self._at[rank]] if self._at[rank] < len(self._ranks[rank]) else None

    def _kernels(self, rank: int) -> Iterator[Item]:
        """Yield what a rank does by itself, and pass what was listed before it came there."""
        while (event := self._next(rank)) is not None:
            if isinstance(event, Kernel):
                yield replace(event, after=self._after[rank])
                self._after[rank] = (event.id,)
            elif isinstance(event, Entered) and event.key in self._written:
                self._enter(rank, event)
            elif isinstance(event, Waited) and self._known(rank, event):
                self._wait(rank, event)
            else:
                return
            self._at[rank] += 1

    def _known(self, rank: int, event: Waited) -> bool:
        return (event.key, event.piece) in self._waits and (rank, event.key, event.piece) not in self._waited

    def _all_here(self, rank: int) -> bool:
        """Return whether every member has come to the same as this rank."""
        event = self._next(rank)
        if isinstance(event, Kernel) or event is None:
            return False
        nexts = [self._next(each) for each in self._entered[event.key]]
        return all(type(each) is type(event) and _same(each, event) for each in nexts)

    def _meet(self, rank: int) -> Iterator[Item]:
        event = self._next(rank)
        assert event is not None
        if isinstance(event, Waited):
            yield Wait(id=event.id, handle=_handle(self._first(event.key), event.piece), after=())
            self._waits[event.key, event.piece] = event.id
            self._waited -= {each for each in self._waited if each[1:] == (event.key, event.piece)}
        elif isinstance(event, Entered):
            yield from self._collectives(event)
            self._written.add(event.key)

    def _first(self, key: Key) -> Entered:
        here = self._entered[key]
        return here[next(iter(here.values())).members[0]]

    def _collectives(self, event: Entered) -> Iterator[Collective]:
        """Yield one item for each piece of a call, all in one turn."""
        here = [self._entered[event.key][rank] for rank in event.members]
        first, call = here[0], event.call
        after = dict.fromkeys(
            name for rank in event.members if self._come_to(rank, event) for name in self._after[rank]
        )
        attrs: dict[str, Attr] = dict(call.attrs)
        if call.rows is not None:
            rows = [each.call.rows or ((), ()) for each in here]
            attrs |= {"sends": tuple(sent for sent, _ in rows), "receives": tuple(taken for _, taken in rows)}
        words = tuple(each.call.algorithm for each in here)
        for piece in range(len(event.accesses)):
            reads: list[Access] = [each.accesses[piece][0] for each in here]
            if call.op == "broadcast":
                reads = [reads[int(str(call.attrs["root"]))]]
            yield Collective(
                id=_handle(first, piece),
                op=call.op,
                participants=tuple(map(str, event.members)),
                group=",".join(map(str, event.members)),
                attrs=attrs,
                algorithm=call.algorithm,
                algorithms=words if any(words) else (),
                call=first.id if len(event.accesses) > 1 else "",
                steps=call.steps,
                turns=tuple(self._turns[rank, event.key] for rank in event.members),
                accesses=(*reads, *(each.accesses[piece][1] for each in here)),
                handle=_handle(first, piece) if call.started else None,
                after=tuple(after),
            )

    def _come_to(self, rank: int, event: Entered) -> bool:
        there = self._next(rank)
        return isinstance(there, Entered) and there.key == event.key

    def _enter(self, rank: int, event: Entered) -> None:
        if not event.call.started:
            first = self._first(event.key)
            self._after[rank] = tuple(_handle(first, piece) for piece in range(len(event.accesses)))

    def _wait(self, rank: int, event: Waited) -> None:
        self._waited.add((rank, event.key, event.piece))
        self._after[rank] = (*self._after[rank], self._waits[event.key, event.piece])


def _handle(first: Entered, piece: int) -> str:
    return f"{first.id}/{piece}" if len(first.accesses) > 1 else first.id


def _same(one: Event | None, other: Event) -> bool:
    if isinstance(one, Entered) and isinstance(other, Entered):
        return one.key == other.key
    return isinstance(one, Waited) and isinstance(other, Waited) and (one.key, one.piece) == (other.key, other.piece)
