"""Whole tables dealt over a run: each entry of movement, of numbers and of storage in time is in one case of a run.

Patterns (``edges``) are what somebody thought of. Here are all pairs of small things, so that what nobody thought of is
there too: every entry of a table is listed by one of the cases at fixed numbers, on any seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import neighbour
from conformance.specs.graphs.domain.listing import Listing
from conformance.specs.graphs.domain.neighbours import constants, moves, numbers, steps, versions
from conformance.specs.graphs.domain.unfinished_case import Asked, Words

TURNS: Final = 18
"""Cases that share the tables out: a run of 300 draws has so many, a third of each table."""

WHOLE: Final = ("int32", "int16", "int64", "int8", "uint8")

NUMBERS: Final = (*numbers.EVERY, *steps.EVERY, *constants.EVERY)

TABLES: Final[tuple[Sequence[tuple[Any, ...]], ...]] = (moves.EVERY, NUMBERS, versions.EVERY)
"""Entries of movement, of numbers, and of storage in time."""


ALONE: Final = (*numbers.COMPLEX, *("int4", "uint4", "float8_e4m3fn", "float8_e5m2"))
"""Dtypes that many have not. What is of numbers and has them is in two cases, so that those are asked all the rest."""


@cache
def _of_numbers(shares: int) -> tuple[list[tuple[int, tuple[Any, ...]]], ...]:
    """Return the entries of numbers of each case: one of the last two has complex numbers, one what is narrow."""
    plain: list[tuple[int, tuple[Any, ...]]] = []
    apart: tuple[list[tuple[int, tuple[Any, ...]]], ...] = ([], [])
    for number, entry in enumerate(NUMBERS):
        rare = numbers.dtypes_of(number, entry).intersection(ALONE)
        (apart[not rare <= {*numbers.COMPLEX}] if rare else plain).append((number, entry))
    return (*(plain[at :: shares - len(apart)] for at in range(shares - len(apart))), *apart)


def dealt(turn: int) -> list[tuple[int, tuple[Any, ...]]]:
    """Return the entries of the case of a turn, each with its number in its table."""
    table, share = TABLES[turn % len(TABLES)], TURNS // len(TABLES)
    at = turn // len(TABLES) % share
    # Entries of one kind together: many have no word for some kinds, and should be asked about the others.
    together = slice(len(table) * at // share, len(table) * (at + 1) // share)
    listed = [*_of_numbers(share)[at]] if table is NUMBERS else list(enumerate(table))[together]
    if turn % TURNS == TURNS - 1:
        # Extents that are variables are in one case alone: many have no word for them.
        listed += enumerate(versions.VARIABLES, len(table))
    return listed


def neighbours(draw: Draw, turn: int) -> GraphCase:
    """Draw the case of a turn."""
    asked = Asked(draw, Words(dtypes=(), alu=(), folds=(), steps=(), regime="small", plain=True))
    e = Listing(asked, draw(choices.sampled_from(WHOLE)), "float32")
    entries = dealt(turn)
    late: list[Node] = []
    if turn % len(TABLES) == 0:
        found = moves.moved(e, entries)
    elif turn % len(TABLES) == 1:
        found = steps.listed(e, entries)
    else:
        found, late = versions.times(e, entries)
    asked.wanted = [node.id for node in found]
    names = tuple(asked.buffers) if late else ()
    asked.close(tuple(name for number, name in enumerate(names) if number % 3))
    if late:
        # What is not read at once must have been assigned to all the same, and not all is written again.
        for name in (name for number, name in enumerate(names) if number % 4):
            asked.writes[name] = from_array(np.ascontiguousarray(np.flip(to_array(asked.buffers[name]))))
        if asked.variables:
            # No round gives the variable now: it has the value that the graph gives it.
            asked.bound.clear()
            versions.bound_again(e)
        asked.wanted += [node.id for node in late]
        asked.close(tuple(asked.buffers))
        if asked.variables:
            # And then a greater value than in any round before.
            asked.bound["n"] = asked.variables["n"].high
            versions.bound_again(e)
            asked.close(())
    return asked.case()


def neighbour_case(draw: Draw) -> GraphCase | None:
    """Return the case of the tables of a draw at their numbers, or ``None`` for any other draw."""
    turn = neighbour(draw)
    return None if turn is None else neighbours(draw, turn)
