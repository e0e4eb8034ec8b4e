"""How axis_index is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import PARTITIONS, Draft, draft


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an axis_index over any axes and any partition."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    return drawn.program("axis_index", {}, ("y",), {})
