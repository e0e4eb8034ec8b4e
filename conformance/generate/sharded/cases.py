"""What cases of sharded tensors grow from."""

from __future__ import annotations

from typing import Final

from conformance.cases.sharded.case import ShardedCase
from conformance.generate import choices
from conformance.generate.choices import Choice
from conformance.generate.sharded.expressions import several
from conformance.generate.sharded.folds import folds
from conformance.generate.sharded.hazards import hazards
from conformance.generate.sharded.illegal_programs import WAYS, illegal

KINDS: Final = (
    *((folds(),) * 3),
    *((several(),) * 42),
    *((hazards(),) * 6),
)


def sharded_cases() -> Choice[ShardedCase]:
    """Return the choice of a case of any kind."""
    return choices.one_of(*KINDS)


def illegal_cases() -> Choice[ShardedCase]:
    """Return the choice of a case that is wrong in one place, each way in turn."""
    every = tuple(illegal(way) for way in WAYS)
    return Choice(lambda draw: draw(every[(draw.dealt.nth + draw.dealt.seed if draw.dealt else 0) % len(every)]))
