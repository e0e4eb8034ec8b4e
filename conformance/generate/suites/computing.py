"""How the suite computing is drawn: as chains of which ranks compute some steps."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import DTYPES
from conformance.generate.operations import CALLED
from conformance.generate.programs.chains import chain
from conformance.generate.programs.script import script

SUITE: Final = "computing"

_DTYPES: Final = choices.within(DTYPES, "computed")
_KINDS: Final = choices.sampled_from(["whole", "whole", "any"])
_PLACES: Final = choices.steered(
    ["fresh", "fresh", "fresh", "into", "in_place", "overlap"], ("place",), lambda word: (word,)
)
_STARTS: Final = choices.steered(["no", "later", "no", "waited", "later", "never"], ("start",), lambda word: (word,))


@choices.composite
def _chains(draw: choices.Draw, op: str) -> Case:
    """Draw a chain, with storage and starts where these are no goal against."""
    effects, starts = draw(_PLACES) != "fresh", draw(_STARTS) != "no"
    program = script(draw, op, shapes=draw(_KINDS), once=True, dtype=_claimed(draw))
    return chain(program, effects=effects, starts=starts, computes=True)


def _claimed(draw: choices.Draw) -> str | None:
    """Draw a dtype where claims list those that are computed in, and the one that is a goal is none of them."""
    listed = draw.goals.limits.get("computed", ())
    return draw(_DTYPES) if listed and draw.goals.levels.get("dtype") not in listed else None


DOMAINS: Final = {op: _chains(op) for op in CALLED}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.4
"""The part of a run's examples that is drawn for each operation of the suite."""
