"""Units: what a run draws, cut into parts that come out the same whoever runs the others.

A unit is a range of the draws of one suite for one operation, with the draws for single backends that go with it. Which
units there are depends on the plan alone, and not on how many slices they are dealt to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from conformance.runner.draws import LONGEST
from conformance.runner.plan import Draws, Plan
from conformance.vectors.deck import deck

RANGE: Final = 10
"""Draws of a unit: of a backend that takes 200 ms a case two seconds. With 25 two slices had 370 and 330 cases."""

OWN: Final = 1 << 24
"""The number from which draws for single backends are counted: more examples then add units, and change none."""


@dataclass(frozen=True)
class Unit:
    """A part of a plan: its ``place`` among all units, and what is drawn."""

    place: int
    draws: Draws


def every_unit(plan: Plan) -> list[Unit]:
    """Return the units of a plan, in order: operation by operation, suite by suite, range by range."""
    return units_of(plan, (1, 1))


def units_in(draws: Draws) -> int:
    """Return how many units the draws of one suite for one operation are cut into."""
    return -(-draws.examples // RANGE)


def units_of(plan: Plan, part: tuple[int, int]) -> list[Unit]:
    """Return the units of slice ``K`` of ``N``, counted from 1: every N-th one, so that each has some of everything."""
    at, of = part
    places, found = count(), list[Unit]()
    for draws in plan.draws():
        for first in range(0, draws.examples, RANGE):
            if (place := next(places)) % of == at - 1:
                examples, own = min(RANGE, draws.examples - first), OWN + first * LONGEST
                found.append(Unit(place, replace(draws, examples=examples, first=first, own=own, distinct=0)))
    return found


def most_slices(plan: Plan) -> int:
    """Return how many slices of a plan have something to do: as many as it has units, or tens of cases of the deck."""
    asked = sum(one.suite in plan.suites and one.op in plan.ops for one in deck().cases) if plan.deck != 0 else 0
    asked = asked if plan.deck is None else min(asked, plan.deck)
    return max(sum(map(units_in, plan.draws())) if plan.explores else 0, -(-asked // RANGE), 1)


def order_of(plan: Plan) -> dict[tuple[str, str], int]:
    """Return the place of each suite and operation in the order of a plan."""
    return {(draws.suite, draws.op): at for at, draws in enumerate(plan.draws())}
