"""What the draws of the suite ``sharding`` are of."""

from __future__ import annotations

from typing import Final

from conformance.cases.sharded.case import ShardedCase
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.chained import chained
from conformance.specs.sharded.domain.edges import edge_case
from conformance.specs.sharded.domain.expressions import several
from conformance.specs.sharded.domain.folds import folds
from conformance.specs.sharded.domain.hazards import hazards
from conformance.specs.sharded.domain.illegal_programs import MISFITS, UNPLACED, illegal, illegal_in_turn
from conformance.specs.sharded.domain.large_folds import past_case
from conformance.specs.sharded.domain.mixed_chains import mingled
from conformance.specs.sharded.domain.programs import programs

KINDS: Final = (
    *((programs(),) * 12),
    *((folds(),) * 8),
    *((several(),) * 42),
    *((hazards(),) * 6),
    *((illegal((*UNPLACED, *MISFITS, "shape", "symbolic")),) * 4),
)
"""Kinds of cases; some that are wrong come in turns besides."""


@choices.composite
def sharded_cases(draw: Draw) -> ShardedCase:
    """Draw a case of any kind: at some numbers a chain that is dealt, patterns or one that is wrong; two are large."""
    listed = edge_case(draw) or past_case(draw) or illegal_in_turn(draw)
    if listed is not None:
        return listed
    classes = chained(draw)
    return draw(mingled(classes) if classes else draw(choices.sampled_from(KINDS)))
