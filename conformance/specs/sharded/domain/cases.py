"""What a hundred draws of the suite ``sharding`` are of."""

from __future__ import annotations

from typing import Final

from conformance.cases.sharded.case import ShardedCase
from conformance.specs.domains import choose
from conformance.specs.domains.choose import Draw
from conformance.specs.sharded.domain.illegal import illegal
from conformance.specs.sharded.domain.programs import programs
from conformance.specs.sharded.domain.several import several

KINDS: Final = (*((programs(),) * 46), *((several(),) * 46), *((illegal(),) * 8))


@choose.composite
def sharded_cases(draw: Draw) -> ShardedCase:
    """Draw a case of any kind."""
    return draw(draw(choose.sampled_from(KINDS)))
