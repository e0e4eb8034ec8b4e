"""Draws at fixed numbers, which a domain may use for what it would otherwise seldom draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.specs.domains.choices import Draw

SELDOM: Final = "seldom"
"""The goal of such a draw: how many there were before it."""

EVERY: Final = 16
"""Of so many draws one is such: six of a hundred."""

FIRST: Final = 5
"""The number of the first one."""

NEIGHBOUR: Final = "neighbour"
"""The goal of a draw that lists its share of whole tables, in the dialect that has such: how many there were before."""

SECOND: Final = 13
"""The number of the first of these."""

ROW: Final = "row"
"""The goal of a draw that takes the next row of a table, in the dialect that has one: how many there were before."""

ROWS: Final = 4
"""Of so many draws the last is such."""


def seldom_goal(number: int) -> Mapping[str, str]:
    """Return the goal of a draw with that number; none for most of them."""
    turn, at = divmod(number, EVERY)
    if number % ROWS == ROWS - 1:
        return {ROW: str(number // ROWS)}
    return {SELDOM: str(turn)} if at == FIRST else {NEIGHBOUR: str(turn)} if at == SECOND else {}


def seldom(draw: Draw) -> int | None:
    """Return how many such draws there were before this one, or ``None`` where it is none of them."""
    return int(draw.goals[SELDOM]) if SELDOM in draw.goals else None


def neighbour(draw: Draw) -> int | None:
    """Return how many draws of a share of whole tables there were before this one, or ``None`` for any other draw."""
    return int(draw.goals[NEIGHBOUR]) if NEIGHBOUR in draw.goals else None


def row(draw: Draw) -> int | None:
    """Return how many draws of a row of a table there were before this one, or ``None`` for any other draw."""
    return int(draw.goals[ROW]) if ROW in draw.goals else None
