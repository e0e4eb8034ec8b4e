"""The page on schedules."""

from __future__ import annotations

from typing import Final

from conformance.judging.schedules.clause import Relation
from conformance.specification.clause_table import clause_lines
from conformance.specification.steps import table
from conformance.specs.schedules import CLAUSE_BY_ID, PAIRS

FAMILIES: Final = {
    "answer": "That a schedule is given at all.",
    "form": "What a schedule must keep to be read.",
    "order": "That everything is computed, once, before it is read.",
    "no_kernel": "What needs no kernel. A write that is said to be of a node which only hands on the value of another "
    "one, as a contig of a contig does, is of that other one, where no item writes it under its own name.",
    "movement": "What becomes of movement.",
    "dedup": "What is computed once, and which kernels are one program.",
    "fusion": "What one kernel computes together.",
    "splits": "A reduce in several kernels.",
    "copies": "What is moved between devices, and by which collectives.",
    "assign": "Writes into storage, and the order of reads and writes.",
    "variables": "Whole numbers that are known when a schedule is run, and the parameters of functions.",
    "memory": "Buffers that share an arena.",
    "bodies": "The instructions of kernels.",
    "staging": "Local memory.",
    "replays": "Sequences that are done again.",
    "waits": "What is started, and the waits for it.",
    "communication": "Memory of communicators, and how collectives are called.",
    "law": "The values that a schedule gives when it is run.",
}
"""What the clauses of each family are about."""

SECOND: Final[dict[Relation, str]] = {
    "afterwards": "that of the same results, when the first one has been run",
    "again": "that of the same graph, from another process",
    "cached": "that of the same graph, from the same process",
    "dropped": "that of the graph with one node more, on which no result depends",
    "rebound": "that of the graph with other values for its variables",
    "reordered": "that of the same results, asked for in the opposite order",
    "rerun": "that of a later iteration of what was compiled once",
    "switched": "that of the same graph with every pass and algorithm for communication the other way",
    "estimated": "that of the same graph where a cost model has random estimates, others on each device",
    "neighbours": "that of another graph, from the same process",
    "together": "that of one result alone, beside a third one of the other results",
    "unplanned": "that of the same graph without a memory plan",
}
"""The second schedule that a clause about two schedules is about."""


def schedule_lines() -> list[str]:
    """Return the lines of the page, below its title."""
    lines: list[str] = []
    for family in dict.fromkeys(id.partition(".")[0] for id in CLAUSE_BY_ID):
        clauses = [clause for clause in CLAUSE_BY_ID.values() if clause.id.partition(".")[0] == family]
        lines += [f"## Clauses of {family}", "", FAMILIES[family], "", *clause_lines(clauses)]
    return [
        *lines,
        "## Two schedules of one graph",
        "",
        "Some clauses compare a schedule with a second one:",
        "",
        *table("clause", "the second schedule", {f"`{clause.id}`": SECOND[clause.relation] for clause in PAIRS}),
    ]
