"""Units: what a run draws, cut into parts that come out the same whoever runs the others.

A unit is a range of the draws of one suite for one operation, with the draws for single backends that go with it. Which
units there are depends on the plan alone, and not on how many slices they are dealt to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from conformance.runner.draws import LONGEST
from conformance.runner.plan import Draws, Plan

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
    found: list[Unit] = []
    for draws in plan.draws():
        for first in range(0, draws.examples, RANGE):
            examples = min(RANGE, draws.examples - first)
            own = OWN + first * LONGEST
            part = replace(draws, examples=examples, first=first, own=own, distinct=0)
            found.append(Unit(len(found), part))
    return found


def units_of(plan: Plan, part: tuple[int, int]) -> list[Unit]:
    """Return the units of slice ``K`` of ``N``, counted from 1: every N-th one, so that each has some of everything."""
    at, of = part
    return every_unit(plan)[at - 1 :: of]


def order_of(plan: Plan) -> dict[tuple[str, str], int]:
    """Return the place of each suite and operation in the order of a plan."""
    return {(draws.suite, draws.op): at for at, draws in enumerate(plan.draws())}
