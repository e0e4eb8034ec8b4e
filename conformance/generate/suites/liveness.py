"""How the suite liveness is drawn."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.operations import CALLED
from conformance.generate.programs.divergent_ranks import dying_call, troubled

_DYING: Final = choices.sampled_from([False, False, False, True])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program of which ranks do otherwise, or a call before which, or after which, one dies."""
    return dying_call(draw, op) if op in CALLED and draw(_DYING) else draw(troubled(op))


SUITE: Final = "liveness"

DOMAINS: Final = {op: programs(op) for op in (*CALLED, "barrier")}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.25
"""The part of a run's examples that is drawn for each operation of the suite."""
