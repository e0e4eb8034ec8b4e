"""The table of patterns by suite and operation, dealt in turn at the numbers of seldom draws.

A run of 300 draws has each pattern of an operation once or more. Suites that draw fewer have most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from conformance.cases.case import Case
from conformance.cases.tensor.dtypes import RARE, kind
from conformance.reference.operations import FOLDED
from conformance.specs.domains import choices
from conformance.specs.domains.domain import DTYPES
from conformance.specs.domains.steering.seldom_draws import seldom
from conformance.specs.scenarios.block_operations import CALLED
from conformance.specs.scenarios.edges.calls import listed
from conformance.specs.scenarios.edges.folds import FOLDS, with_folds
from conformance.specs.scenarios.edges.listing import Edge, Pattern, Place, sorts, world_of
from conformance.specs.scenarios.edges.rewrites import BESIDE, VALUES, beside
from conformance.specs.scenarios.edges.starts import STARTED
from conformance.specs.scenarios.edges.storage import STORED

WIDE: Final = ("float32", "float16", "float64", "bfloat16")

EXACT: Final = tuple(dtype for dtype in DTYPES if kind(dtype) in ("integer", "bool") or dtype in WIDE)
"""Dtypes of programs whose folds are folded again: of these nothing is rounded."""

ORDERED: Final = tuple(dtype for dtype in DTYPES if kind(dtype) != "complex")
"""Dtypes that have a greatest number."""


@cache
def patterns(suite: str, op: str) -> Sequence[Pattern]:
    """Return the patterns of an operation in a suite; none in suites that have draws of their own kind."""
    if op not in CALLED:
        return ()
    if suite == "collectives":
        values = (*VALUES, *map(beside, BESIDE.get(op, ())))
        # A position of an extreme is no fold, and has the edges of one.
        return with_folds(values) if op in FOLDED or op == "arg_reduce" else values
    return {"aliasing": STORED, "async": STARTED, "dtypes": VALUES[:3]}.get(suite, ())


def dealt(suite: str, op: str, domain: choices.Choice[Case]) -> choices.Choice[Case]:
    """Return the domain with a pattern of the table at each seldom draw, under the same name."""
    every = patterns(suite, op)
    if not every:
        return domain

    def make(draw: choices.Draw) -> Case:
        turn = seldom(draw)
        if turn is None:
            return domain.make(draw)
        try:
            return _edge(draw, suite, op, every, turn)
        except ValueError:
            # Patterns are made to fit the operations that are listed.
            if listed(op):
                raise
            return domain.make(draw)

    return choices.Choice(make, domain.name)


def _edge(draw: choices.Draw, suite: str, op: str, every: Sequence[Pattern], turn: int) -> Case:
    """Draw the program of a turn. What is dealt is wanted of the source: Hypothesis tries plainer ones too."""
    pattern = every[draw.source.below(len(every), (turn % len(every),))]
    places = sorts(op)
    if turn % 2:
        place = draw(_place(op))
    else:
        start = CALLED.index(op) * 3 + turn // 2
        place = places[draw.source.below(len(places), (start % len(places),))]
    once = pattern in FOLDS or (op not in FOLDED and pattern in VALUES)
    made = Edge(draw, op, place, draw(_dtype(suite, op, once)), turn=turn)
    pattern(made)
    return made.case()


@cache
def _place(op: str) -> choices.Choice[Place]:
    return choices.steered(sorts(op), ("world",), lambda place: (world_of(place),))


@cache
def _dtype(suite: str, op: str, once: bool) -> choices.Choice[str]:
    """Return the dtypes of patterns: those that are exact where folds may be folded again, else any."""
    if suite == "dtypes":
        return choices.sampled_from(RARE)
    found = (DTYPES if op != "arg_reduce" else ORDERED) if once else EXACT
    return choices.steered(found, ("dtype",), lambda dtype: (dtype,))
