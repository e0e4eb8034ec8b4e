"""The operations that programs with effects are drawn for: those that make of one block a rank another."""

from __future__ import annotations

from typing import Final

from conformance.specs.domains import choices
from conformance.specs.domains.calls import Drawn
from conformance.specs.domains.domain import Draft
from conformance.specs.operations import OPS

_CALLS: Final = {name: op.call for name, op in OPS.items() if op.call is not None}

CALLED: Final = tuple(_CALLS)


def call_of(draw: choices.Draw, op: str, drawn: Draft, shapes: str) -> Drawn:
    """Draw a call of ``op``; return it and the draft, with another dtype where the drawn one has no fit reductions."""
    return _CALLS[op](draw, drawn, shapes)
