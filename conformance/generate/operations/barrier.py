"""How barrier is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import PARTITIONS, Draft, draft


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a barrier over any axes and any partition."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    return drawn.program("barrier", {}, (), {})
