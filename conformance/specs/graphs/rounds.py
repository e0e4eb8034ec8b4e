"""Storage: what is written, what was kept, and what is asked for later or again."""

from __future__ import annotations

from conformance.judging.graphs.clause import GraphClause
from conformance.judging.keyed_checks import about, right

ROUNDS = (
    GraphClause(
        "graph.C31",
        "must",
        "A node that names storage shows what is stored when the node is used: all writes until then, through "
        "whatever view of the storage.",
        "tinygrad.lazy; tinygrad.schedule",
        about("storage"),
        right("storage"),
    ),
    GraphClause(
        "graph.C32",
        "must",
        "A value that is written into a buffer between two rounds is read in the second round.",
        "tinygrad.schedule",
        about("outside"),
        right("outside"),
    ),
    GraphClause(
        "graph.C33",
        "must",
        "An assign writes all elements of its target and no others, with a value that was read before any of them "
        "was written; of two assigns to an element the later one stays.",
        "tinygrad.schedule",
        about("assign"),
        right("assign"),
    ),
    GraphClause(
        "graph.C34",
        "must",
        "A computed value depends on what was stored when its node was listed, and not on later writes, however late "
        "it is asked for.",
        "tinygrad.schedule",
        about("late"),
        right("late"),
    ),
    GraphClause(
        "graph.C35",
        "must",
        "A computed value that is asked for again is, again, its value at the time when its node was listed.",
        "tinygrad.lazy",
        about("again"),
        right("again"),
    ),
    GraphClause(
        "graph.C36",
        "must",
        "A buffer that no node writes keeps its elements.",
        "tinygrad.lazy",
        about("kept"),
        right("kept"),
    ),
)
