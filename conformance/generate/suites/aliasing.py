"""How the suite aliasing is drawn."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.programs.block_operations import CALLED
from conformance.generate.programs.effects.chains import chain, with_leads
from conformance.generate.programs.effects.mixtures import alternating
from conformance.generate.programs.effects.passing import WRITTEN
from conformance.generate.programs.effects.programs import ALONE, script
from conformance.generate.programs.effects.writes import (
    assigned,
    copied,
    crossed,
    fed_back,
    freed,
    in_place,
    kept,
    misfit,
    moved,
    nested,
    out_form,
    part,
    shifted,
    turned,
    written_after,
)

TEMPLATES: Final = (
    out_form, in_place, kept, written_after, shifted, part, copied, fed_back, freed, turned, crossed,
    nested, kept, fed_back, nested, copied, moved, moved, assigned, assigned, alternating, alternating,
)  # fmt: skip
_CHOICE: Final = choices.sampled_from(range(len(TEMPLATES)))
_MISFIT: Final = choices.sampled_from([False] * 15 + [True])
"""A template among others it was too rare: seed 0 had no target of the extent of another group size by default."""

_CHAINED: Final = choices.sampled_from([False, True, True])
_KINDS: Final = choices.sampled_from(["any", "whole", "whole"])
_DTYPE: Final = choices.sampled_from([None, None, None, None, "bool"])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program on ``op``: a chain, one that shows something in particular, or one whose target does not fit."""
    if draw(_MISFIT):
        return misfit(script(draw, op, shapes="whole"))
    if draw(_CHAINED):
        return chain(script(draw, op, alone=draw(ALONE), once=True), effects=True, starts=False)
    number = draw(_CHOICE)
    program = script(draw, op, alone=draw(ALONE), shapes=draw(_KINDS), dtype=draw(_DTYPE))
    return TEMPLATES[number](program)


SUITE: Final = "aliasing"

DOMAINS: Final = {
    **{op: programs(op) for op in CALLED},
    **{op: with_leads(domain, starts=False) for op, domain in WRITTEN.items()},
}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.4
"""The part of a run's examples that is drawn for each operation of the suite."""
