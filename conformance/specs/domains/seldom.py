"""Draws at fixed numbers, which a domain may use for what it would otherwise seldom draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.specs.domains.choose import Draw

SELDOM: Final = "seldom"
"""The wish of such a draw: how many there were before it."""

EVERY: Final = 16
"""Of so many draws one is such: six of a hundred."""

FIRST: Final = 5
"""The number of the first one."""


def seldom_wish(number: int) -> Mapping[str, str]:
    """Return the wish of a draw with that number; none for most of them."""
    turn, at = divmod(number, EVERY)
    return {SELDOM: str(turn)} if at == FIRST else {}


def seldom(draw: Draw) -> int | None:
    """Return how many such draws there were before this one, or ``None`` where it is none of them."""
    return int(draw.wishes[SELDOM]) if SELDOM in draw.wishes else None
