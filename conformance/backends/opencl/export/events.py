"""Events: what one queue does and another has to wait for, as items that are started, and waits for them.

A command is enqueued and not waited for. On its own queue those after it come later in any case; a command of another
queue lists its event. The items of a collective are started as a whole, and are named by those that come after them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from conformance.backends.opencl.schedule.item import Barrier, Item
from conformance.cases.schedule import schedule as neutral


class Events:
    """The events that other queues wait for, and which of them have been waited for so far."""

    def __init__(self, items: Sequence[Item], after: Sequence[Collection[int]], whole: Collection[int]) -> None:
        """Find whose events are waited for; the items numbered in ``whole`` belong to collectives and have none."""
        self._items, self._after, self._whole = items, after, whole
        self._waited: set[int] = set()
        # A barrier alone waits for nothing that is told: what comes after it on its device waits in its place.
        waiting = [number for number, item in enumerate(items) if not isinstance(item, Barrier)]
        self._awaited = {other for number in waiting for other in self._others(number)}

    def _others(self, number: int) -> Iterator[int]:
        for each in self._after[number]:
            if each not in self._whole and self._items[each].device != self._items[number].device:
                yield each

    def handle(self, number: int) -> str | None:
        """Return the name of an item's event, if another queue waits for it."""
        return f"event {number}" if number in self._awaited else None

    def waits(self, numbers: Sequence[int]) -> Iterator[neutral.Wait]:
        """Yield the waits that come before some items: those for events that nobody has waited for yet."""
        for number in numbers:
            for each in self._others(number):
                if each not in self._waited:
                    self._waited.add(each)
                    yield neutral.Wait(id=f"wait {each}", after=(), handle=f"event {each}")

    def follows(self, number: int) -> tuple[str, ...]:
        """Return the names of what an item is after: of items of its own queue and of collectives, and of waits."""
        others = {*self._others(number)}
        return tuple(f"wait {each}" if each in others else f"item {each}" for each in self._after[number])
