"""The orders in which the items of a schedule may run: those that keep every conflict as listed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Final

from conformance.reference.schedule_facts import Facts

MOST_ORDERS: Final = 200
"""Legal orders up to which all of them are taken."""

DRAWN_ORDERS: Final = 50
"""Legal orders that are drawn where there are more."""


def legal_orders(facts: Facts, seed: int = 0) -> Iterator[tuple[int, ...]]:
    """Yield orders of the leaves that keep every conflict as listed, the listed order first.

    All of them when there are at most ``MOST_ORDERS``, else ``DRAWN_ORDERS`` drawn with ``seed``.
    """
    count = len(facts.leaves)
    needs: list[set[int]] = [set() for _ in range(count)]
    for first, second, _, _ in facts.conflicts:
        needs[second].add(first)
    moving = [number for number in range(count) if facts.touches[number]]
    listed = list(islice(_extensions(moving, needs), MOST_ORDERS + 1))
    if len(listed) <= MOST_ORDERS:
        yield from listed
        return
    yield tuple(moving)
    source = random.Random(seed)  # noqa: S311 - an order, not a secret
    for _ in range(DRAWN_ORDERS - 1):
        left, order = list(moving), []
        while left:
            waiting = set(left)
            ready = [number for number in left if not needs[number] & waiting]
            order.append(source.choice(ready))
            left.remove(order[-1])
        yield tuple(order)


def _extensions(moving: list[int], needs: list[set[int]]) -> Iterator[tuple[int, ...]]:
    """Yield every order of ``moving`` in which each number comes after all it needs, the listed order first."""
    order: list[int] = []

    def ready() -> Iterator[int]:
        waiting = set(moving) - set(order)
        return iter([number for number in moving if number in waiting and not needs[number] & waiting])

    choices = [ready()]
    while choices:
        number = next(choices[-1], None)
        if number is None:
            choices.pop()
            if len(order) == len(moving):
                yield tuple(order)
            del order[-1:]
        else:
            order.append(number)
            choices.append(ready())
