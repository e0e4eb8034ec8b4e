"""Storage: what is written, what was kept, and what is asked for later or again."""

from __future__ import annotations

from conformance.judging.graphs.clause import GraphClause
from conformance.judging.keyed_checks import about, right
from conformance.specs.graphs.divergences import VIEWED

ROUNDS = (
    GraphClause(
        "graph.C31",
        "must",
        "A `buf` node, an assign and movement of either name storage: where a later node uses one, or at the end of "
        "the round that asks for it, it shows all writes listed until then, through whatever view.",
        "tinygrad.lazy; tinygrad.schedule",
        about("storage"),
        right("storage"),
    ),
    GraphClause(
        "graph.C32",
        "must",
        "A value that is written into a buffer from outside before a round is what the nodes and the reads of "
        "that round find there, until a node of the round writes over it.",
        "tinygrad.schedule",
        about("outside"),
        right("outside"),
    ),
    GraphClause(
        "graph.C33",
        "must",
        "An assign writes all elements of its target and no others, with a value that was read before any of them "
        "was written. Of all writes of an element the last one stays, in the order of the rounds and of the list.",
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
        diverges=(VIEWED,),
    ),
    GraphClause(
        "graph.C35",
        "must",
        "A computed value that is asked for again is again a right value of its node, as of the time when the "
        "node was listed.",
        "tinygrad.lazy",
        about("again"),
        right("again"),
        diverges=(VIEWED,),
    ),
    GraphClause(
        "graph.C36",
        "must",
        "A buffer that neither a node nor anybody from outside writes keeps its elements.",
        "tinygrad.lazy",
        about("kept"),
        right("kept"),
    ),
)
