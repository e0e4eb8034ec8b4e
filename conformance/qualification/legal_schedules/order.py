"""Engines that put items in another order, or only start them."""

from __future__ import annotations

import random

from msgspec.structs import replace

from conformance.cases.schedule.schedule import Binding, Collective, Copy, Item, Kernel, Schedule, Wait
from conformance.qualification.legal_schedules.engine import Legal as _Legal
from conformance.reference.schedule.facts import Facts


class OrdersOtherwise(_Legal):
    """Items come in any order that keeps all conflicts, by a seed: a priority queue of what is ready."""

    def change(self, made: Schedule) -> Schedule:
        """Take what is ready in a random order."""
        facts, source = Facts(made), random.Random(len(made.items))  # noqa: S311 - an order, not a secret
        needs: dict[int, set[int]] = {number: set() for number in range(len(made.items))}
        for first, second, _, _ in facts.conflicts:
            needs[second].add(first)
        items: list[Item] = []
        done: set[int] = set()
        while len(done) < len(made.items):
            number = source.choice([n for n, before in needs.items() if n not in done and before <= done])
            done.add(number)
            items.append(made.items[number])
        return replace(made, items=tuple(items))


class LastFirst(_Legal):
    """Items come as late as can be, from the results backwards: depth first from the outputs."""

    def change(self, made: Schedule) -> Schedule:
        """Take, from the end, what nothing left needs."""
        facts = Facts(made)
        needed: dict[int, set[int]] = {number: set() for number in range(len(made.items))}
        for first, second, _, _ in facts.conflicts:
            needed[first].add(second)
        order: list[int] = []
        while len(order) < len(made.items):
            order.append(min(n for n, after in needed.items() if n not in order and after <= set(order)))
        return replace(made, items=tuple(made.items[number] for number in reversed(order)))


class WaitsTwice(_Legal):
    """Everything is only started; who needs it waits, and at the end all is waited for once more."""

    def change(self, made: Schedule) -> Schedule:
        """Start each item, wait before the first conflict, and again at the end."""
        return _started(made, twice=True)


class WaitsOnce(_Legal):
    """Everything is only started, and waited for as late as can be."""

    def change(self, made: Schedule) -> Schedule:
        """Start each item, and wait before the first conflict or at the end."""
        return _started(made, twice=False)


def _started(made: Schedule, *, twice: bool) -> Schedule:
    needs: dict[int, set[int]] = {}
    for first, second, _, _ in Facts(made).conflicts:
        needs.setdefault(second, set()).add(first)
    pending: dict[int, Wait] = {}
    items: list[Item] = []
    for number, item in enumerate(made.items):
        items += [pending.pop(first) for first in sorted(needs.get(number, ())) if first in pending]
        if isinstance(item, Kernel | Copy | Collective):
            items.append(replace(item, handle=f"h{number}"))
            pending[number] = Wait(id=f"w{number}", handle=f"h{number}")
    items += pending.values()
    if twice:
        items += [replace(each, id=f"{each.id} again") for each in items if isinstance(each, Wait)]
    return replace(made, items=tuple(items))


class SaysEdges(_Legal):
    """Every item says which it is after, and no more than it must: a graph of events."""

    def change(self, made: Schedule) -> Schedule:
        """Give each item the edges of its conflicts alone."""
        facts = Facts(made)
        after: dict[int, set[str]] = {number: set() for number in range(len(made.items))}
        for first, second, _, _ in facts.conflicts:
            after[second].add(made.items[first].id)
        items = [replace(item, after=tuple(sorted(after[number]))) for number, item in enumerate(made.items)]
        return replace(made, items=tuple(items))


class ListsVariablesAsBound(_Legal):
    """Each kernel is told all variables, those that it does not use too, in the order in which they were bound."""

    def change(self, made: Schedule) -> Schedule:
        """List all variables, backwards."""
        values = Facts(made).values
        told = tuple(Binding(name, values[name]) for name in sorted(values, reverse=True))
        return replace(
            made,
            items=tuple(replace(item, variables=told) if isinstance(item, Kernel) else item for item in made.items),
        )
