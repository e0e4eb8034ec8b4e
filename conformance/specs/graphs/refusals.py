"""What has no meaning, and is refused."""

from __future__ import annotations

from conformance.judging.graphs.clause import GraphClause
from conformance.judging.keyed_checks import as_argument, illegal, refused, rejected_by

REFUSED = (
    GraphClause(
        "graph.C4",
        "must",
        "Movement or a reduction that leaves its source is refused: a range outside an axis, an axis that is not "
        "there, a permute that leaves an axis out, a reshape to another number of elements, an expansion of an "
        "extent other than 1.",
        "stablehlo.operations: slice, transpose, reshape, broadcast_in_dim, reverse, reduce",
        rejected_by("graph.C4"),
        refused,
    ),
    GraphClause(
        "graph.C43",
        "must",
        "An assign of a value of another shape or dtype than its target is refused.",
        "tinygrad.schedule: earliest_rewrites; tinygrad.multi: MultiLazyBuffer.assign",
        rejected_by("graph.C43"),
        refused,
    ),
    GraphClause(
        "graph.C44",
        "must",
        "A call that does not fit its function is refused: another number of arguments than there are parameters, an "
        "argument of another shape, dtype or device than its parameter, and parameters that are not numbered from 0 "
        "on.",
        "tinygrad.schedule: resolve_function",
        rejected_by("graph.C44"),
        refused,
    ),
    GraphClause(
        "graph.C45",
        "must",
        "An elementwise operation on values of several devices is refused: no value is copied that no copy asks for.",
        "tinygrad.multi: MultiLazyBuffer.alu; tinygrad.schedule: split_store",
        rejected_by("graph.C45"),
        refused,
    ),
    GraphClause(
        "graph.C5",
        "should",
        "The error that refuses a graph reports a wrong argument, or something that is not supported.",
        "ours",
        illegal,
        as_argument,
    ),
)
