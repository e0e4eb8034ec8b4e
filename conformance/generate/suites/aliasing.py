"""How the suite aliasing is drawn: as chains with storage, and as what is written into what does not fit."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.deal import dealing
from conformance.generate.operations import CALLED
from conformance.generate.programs.chains import chain
from conformance.generate.programs.messages import begun
from conformance.generate.programs.overlaps import misfit

SUITE: Final = "aliasing"


@choices.composite
def _chains(draw: choices.Draw, op: str) -> Case:
    return chain(begun(draw, op), effects=True, starts=False)


@choices.composite
def _misfits(draw: choices.Draw, op: str) -> Case:
    return misfit(begun(draw, op))


DOMAINS: Final = {
    op: dealing(f"{SUITE} {op}", _chains(op), illegal=_misfits(op)) for op in (*CALLED, "recv", "ragged_all_to_all")
}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.4
"""The part of a run's examples that is drawn for each operation of the suite."""
