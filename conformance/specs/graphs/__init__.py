"""What must hold of the values of graphs, whoever computes them.

How kernels are made of a graph is a matter of ``specs.schedules``.
"""

from __future__ import annotations

from typing import Final

from conformance.judging.graphs.clause import GraphClause
from conformance.specs.graphs.recommendations import RECOMMENDED
from conformance.specs.graphs.refusals import REFUSED
from conformance.specs.graphs.rounds import ROUNDS
from conformance.specs.graphs.values import GENERAL, OPERATIONS

CLAUSES: Final[tuple[GraphClause, ...]] = (*GENERAL, *REFUSED, *OPERATIONS, *ROUNDS, *RECOMMENDED)
"""Every clause about graphs, the most particular last."""

CLAUSE_BY_ID: Final = {clause.id: clause for clause in CLAUSES}

__all__ = ["CLAUSES", "CLAUSE_BY_ID"]
