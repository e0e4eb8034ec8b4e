"""Storage: what is written, what was kept, and what is asked for later or again."""

from __future__ import annotations

from conformance.judging.graphs.clause import GraphClause, about, right

ROUNDS = (
    GraphClause(
        "graph.C31",
        "must",
        "A name of storage shows what is stored when it is used: all that was written until then, through whatever "
        "view of it.",
        "tinygrad.lazy; tinygrad.schedule",
        about("storage"),
        right("storage"),
    ),
    GraphClause(
        "graph.C32",
        "must",
        "What is written into a buffer between two rounds is read in the second.",
        "tinygrad.schedule",
        about("outside"),
        right("outside"),
    ),
    GraphClause(
        "graph.C33",
        "must",
        "An assign writes the elements of its target, all of them and no others, with a value that was read before "
        "any of them was written; of two the later one lasts.",
        "tinygrad.schedule",
        about("assign"),
        right("assign"),
    ),
    GraphClause(
        "graph.C34",
        "must",
        "A value that was listed before something that it read was written is that of before, however late it is "
        "asked for.",
        "tinygrad.schedule",
        about("late"),
        right("late"),
    ),
    GraphClause(
        "graph.C35",
        "must",
        "A computed value that is asked for again is the same.",
        "tinygrad.lazy",
        about("again"),
        right("again"),
    ),
    GraphClause(
        "graph.C36",
        "must",
        "A buffer that nothing writes holds what it held.",
        "tinygrad.lazy",
        about("kept"),
        right("kept"),
    ),
)
