"""What has no meaning, and is refused."""

from __future__ import annotations

from conformance.judging.graphs.clause import GraphClause
from conformance.judging.keyed_checks import as_argument, illegal, refused, rejected_by

REFUSED = (
    GraphClause(
        "graph.C4",
        "must",
        "Refused is a reshape, permute, expand, shrink, stride, flip or reduction whose shape does not follow from "
        "its source: a range outside an axis, an axis that is not there or that a permute leaves out, another number "
        "of axes or elements, an expanded extent other than 1.",
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
        "An elementwise operation on values of several devices is refused: a value comes to another device by a copy "
        "that the graph lists, and by none that it does not.",
        "tinygrad.multi: MultiLazyBuffer.alu; tinygrad.schedule: split_store",
        rejected_by("graph.C45"),
        refused,
    ),
    GraphClause(
        "graph.C5",
        "should",
        "The error that refuses a graph is reported as a wrong argument, or as something that is not supported.",
        "ours",
        illegal,
        as_argument,
    ),
)
