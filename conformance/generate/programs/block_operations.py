"""The operations that programs with effects are drawn for: those that make of one block a rank another."""

from __future__ import annotations

from typing import Final

from conformance.generate import choices
from conformance.generate.calls.draft import Draft
from conformance.generate.calls.legal_calls import Drawn
from conformance.generate.operations import CALLS

CALLED: Final = tuple(CALLS)


def call_of(draw: choices.Draw, op: str, drawn: Draft, shapes: str) -> Drawn:
    """Draw a call of ``op``; return it and the draft, with another dtype where the drawn one has no fit reductions."""
    return CALLS[op](draw, drawn, shapes)
