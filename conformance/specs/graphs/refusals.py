"""What has no meaning, and is refused."""

from __future__ import annotations

from conformance.judging.graphs.clause import GraphClause
from conformance.judging.keyed_checks import as_argument, illegal, refused

REFUSED = (
    GraphClause(
        "graph.C4",
        "must",
        "Movement that leaves its source is refused: a range past an extent, an axis that is not there, a reshape to "
        "another number of elements, an expansion of an extent other than 1.",
        "stablehlo.operations: slice, transpose, reshape, broadcast_in_dim, reverse, reduce",
        illegal,
        refused,
    ),
    GraphClause(
        "graph.C5",
        "should",
        "The error that refuses a graph reports a wrong argument.",
        "ours",
        illegal,
        as_argument,
    ),
)
