"""How the suite liveness is drawn."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.operations import CALLED
from conformance.generate.programs.divergent_ranks import dying_call, late_call, troubled

_ALONE: Final = choices.sampled_from([None, None, late_call, dying_call])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program of which ranks do otherwise, or a call for which one is late, or before or after which it dies."""
    alone = draw(_ALONE)
    return alone(draw, op) if alone is not None and op in CALLED else draw(troubled(op))


SUITE: Final = "liveness"

DOMAINS: Final = {op: programs(op) for op in (*CALLED, "barrier")}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.25
"""The part of a run's examples that is drawn for each operation of the suite."""
