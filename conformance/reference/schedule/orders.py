"""The orders in which the items of a schedule may run: those that it permits, by what it says waits for what.

Where it says so, by edges and waits, what conflicts is not looked at: a missing edge or a late wait gives an order that
shows it in the values. What is only listed may run in every order that keeps its conflicts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Final

from conformance.reference.schedule.facts import Facts

MOST_ORDERS: Final = 200
"""Legal orders up to which all of them are taken."""

DRAWN_ORDERS: Final = 50
"""Legal orders that are drawn where there are more."""


def legal_orders(facts: Facts, seed: int = 0) -> Iterator[tuple[int, ...]]:
    """Yield orders of the leaves in each of which a leaf comes after all that it needs, the listed order first.

    All of them when there are at most ``MOST_ORDERS``, else ``DRAWN_ORDERS`` drawn with ``seed``. Leaves that touch
    nothing are left out; who waits for one waits for all that it waits for.
    """
    before = _needs(facts)
    moving = [number for number, own in enumerate(facts.touches) if own]
    listed = list(islice(_extensions(moving, before), MOST_ORDERS + 1))
    if len(listed) <= MOST_ORDERS:
        yield from listed
        return
    yield tuple(moving)
    source = random.Random(seed)  # noqa: S311 - an order, not a secret
    for _ in range(DRAWN_ORDERS - 1):
        order: list[int] = []
        left = _bits(moving)
        while left:
            order.append(source.choice(_ready(moving, before, left)))
            left &= ~(1 << order[-1])
        yield tuple(order)


def settled(facts: Facts) -> bool:
    """Return whether a schedule permits only orders that keep all its conflicts: each gives the same values."""
    before = _needs(facts)
    return all(before[second] >> first & 1 for first, second, _, _ in facts.conflicts)


def _needs(facts: Facts) -> tuple[int, ...]:
    """Return for each leaf the set, as bits, of those that it waits for; if only listed, that it conflicts with too."""
    conflicting = [0] * len(facts.leaves)
    for first, second, _, _ in facts.conflicts:
        conflicting[second] |= 1 << first
    return tuple(
        before & conflicts if leaf.after is None else before
        for leaf, before, conflicts in zip(facts.leaves, facts.before, conflicting, strict=True)
    )


def _bits(numbers: list[int]) -> int:
    return sum(1 << number for number in numbers)


def _ready(moving: list[int], before: tuple[int, ...], left: int) -> list[int]:
    """Return which of those that are ``left`` wait for none that is."""
    return [number for number in moving if left >> number & 1 and not before[number] & left]


def _extensions(moving: list[int], before: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every order of ``moving`` in which each number comes after all before it, the listed order first."""
    order: list[int] = []
    left = _bits(moving)
    choices = [iter(_ready(moving, before, left))]
    while choices:
        number = next(choices[-1], None)
        if number is not None:
            order.append(number)
            left &= ~(1 << number)
            choices.append(iter(_ready(moving, before, left)))
            continue
        choices.pop()
        if not left:
            yield tuple(order)
        if order:
            left |= 1 << order.pop()
