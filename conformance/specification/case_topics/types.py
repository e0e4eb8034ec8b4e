"""The topics of types, transforms and started operations: which clauses say what the sources have under one name."""

from __future__ import annotations

from typing import Final

from conformance.specification.case_topics.topic import Topic
from conformance.specification.case_topics.topic import clauses_of as _of

MOVES: Final = ("permute", "shuffle", "all_to_all", "broadcast", "ragged_all_to_all")

TOPICS: Final = (
    Topic("T1", "The type that each operation gives, along each axis.", _of("types", 11, 12, 13), MOVES),
    Topic("T2", "Casts by itself from invariant to varying, and where there are none.", _of("types", 2, 5)),
    Topic("T3", "The table of casts.", ("types.C3", "types.C4", "types.C12"), ("cast",)),
    Topic("T4", "Types of reductions.", _of("types", 4, 7, 12, 15, 16), ("all_reduce",)),
    Topic("T5", "Types of gathers: to varying, to invariant and to reduced.", _of("types", 6, 12), ("all_gather",)),
    Topic("T6", "Types of scatters, of varying and of unreduced operands.", _of("types", 4, 12), ("reduce_scatter",)),
    Topic("T7", "What unreduced and reduced values permit and refuse.", _of("types", 8, 9, 10)),
    Topic("T8", "Programs that only some axes are mapped for, and programs without types.", _of("types", 1, 14)),
    Topic("X1", "Transposes of sums and means.", _of("transposes", 1, 2, 15, 17)),
    Topic("X2", "Transposes of permute and shuffle.", _of("transposes", 3)),
    Topic("X3", "Transposes of all_gather.", _of("transposes", 4, 5, 6)),
    Topic("X4", "Transposes of reduce_scatter.", _of("transposes", 7)),
    Topic("X5", "Transposes of all_to_all.", _of("transposes", 8)),
    Topic("X6", "Transposes and tangents of ragged_all_to_all.", ("transposes.C16", "pushes.C4")),
    Topic("X7", "Transposes of broadcast and of casts.", _of("transposes", 9, 10, 11)),
    Topic("X8", "Mapping of reductions.", _of("batches", 2)),
    Topic("X9", "Mapping of permute and shuffle.", _of("batches", 3)),
    Topic("X10", "Mapping of all_gather and reduce_scatter.", _of("batches", 4)),
    Topic("X11", "Mapping of all_to_all, broadcast and ragged_all_to_all.", _of("batches", 5, 6, 7)),
    Topic("X12", "Mapped axes beside mesh axes, several levels, and axis_index.", _of("batches", 8, 11, 12)),
    Topic("A1", "Ten starts: what each gives, and its type.", _of("starts", 1, 2, 3, 4, 5, 6, 11)),
    Topic("A2", "Six dones, again, and of what they are not of.", _of("starts", 7, 8, 9, 10)),
    Topic(
        "A3",
        "Refusals: an axis that is none, wrong groups, extents and pairs.",
        (
            *("types.C1", "collective.C5", "collective.C6", "collective.C22"),
            *_of("pairs", 1, 2, 3, 4),
            *_of("all_to_all", 7, 8),
            *_of("reduce_scatter", 6, 7),
        ),
    ),
    Topic("A4", "Replica groups of what is lowered.", _of("lowering", 2, 3, 4, 10, 11, 13)),
    Topic("A5", "Sources and targets of a lowered permute.", _of("lowering", 5, 13)),
    Topic(
        "A6", "A lowered axis_index, and the rest of what is lowered.", _of("lowering", 1, 6, 7, 8, 9, 12, 14, 15, 16)
    ),
)
"""The topics in their order: 8 of types, 12 of transforms, 6 of started operations, refusals and lowering."""
