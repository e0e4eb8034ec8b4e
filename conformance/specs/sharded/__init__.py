"""What must hold of programs on sharded tensors.

The rules of single collectives stand in ``specs.operations``.
"""

from __future__ import annotations

from typing import Final

from conformance.judging.sharded.clause import ShardedClause
from conformance.specs.sharded.algorithms import ALGORITHMS
from conformance.specs.sharded.placements import PLACEMENTS, REFUSED
from conformance.specs.sharded.values import GENERAL, OPERATIONS

CLAUSES: Final[tuple[ShardedClause, ...]] = (*GENERAL, *REFUSED, *OPERATIONS, *PLACEMENTS, *ALGORITHMS)
"""Every clause about sharded tensors, the most particular last."""

CLAUSE_BY_ID: Final = {clause.id: clause for clause in CLAUSES}

__all__ = ["CLAUSES", "CLAUSE_BY_ID"]
