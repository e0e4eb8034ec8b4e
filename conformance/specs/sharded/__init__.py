"""What must hold of programs on sharded tensors."""

from __future__ import annotations

from typing import Final

from conformance.judging.sharded.clause import ShardedClause
from conformance.specs.sharded.algorithms import ALGORITHMS
from conformance.specs.sharded.placements import PLACEMENTS, REFUSED
from conformance.specs.sharded.values import GENERAL, OPERATIONS

CLAUSES: Final[tuple[ShardedClause, ...]] = (*GENERAL, *REFUSED, *OPERATIONS, *PLACEMENTS, *ALGORITHMS)
"""Every clause about sharded tensors, the most particular last."""

EVERY: Final = {clause.id: clause for clause in CLAUSES}

__all__ = ["CLAUSES", "EVERY"]
