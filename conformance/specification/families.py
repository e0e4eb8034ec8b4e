"""Families of clauses: what each is about, and the page that has them."""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.specs import OPS, SUITES

OPERATIONS_PAGE: Final = "specification.md"
GRAPHS_PAGE: Final = "specification-graphs.md"
SCHEDULES_PAGE: Final = "specification-schedules.md"
TYPES_PAGE: Final = "specification-types.md"
SHARDING_PAGE: Final = "specification-sharding.md"
INDEX_PAGE: Final = "specification-index.md"


class Family(NamedTuple):
    """A family of clauses: a sentence on what they are about, and their page."""

    summary: str
    page: str


FAMILIES: Final[dict[str, Family]] = {
    "collective": Family("What every collective promises, whatever it computes.", OPERATIONS_PAGE),
    "reduction": Family("What every operation with a reduction promises.", OPERATIONS_PAGE),
    "pairs": Family("What a list of (source, destination) pairs must be.", OPERATIONS_PAGE),
    **{name: Family(suite.summary, OPERATIONS_PAGE) for name, suite in SUITES.items() if suite.clauses},
    **{op.name: Family(op.summary, OPERATIONS_PAGE) for op in OPS.values()},
    "graph": Family("What graphs of tensor operations are worth, and what each node computes.", GRAPHS_PAGE),
    "sharded": Family("What programs on sharded tensors are worth, and where elements are.", SHARDING_PAGE),
    "types": Family("Which typed programs are accepted, and the states of their values.", TYPES_PAGE),
    "starts": Family("Starts and dones in typed programs.", TYPES_PAGE),
    "transposes": Family("Cotangents: what the transpose of each operation is.", TYPES_PAGE),
    "pushes": Family("Tangents: how each operation carries them.", TYPES_PAGE),
    "batches": Family("Programs mapped over new axes.", TYPES_PAGE),
    "lowering": Family("What programs are lowered and compiled to.", TYPES_PAGE),
    "answer": Family("That an implementation gives a schedule.", SCHEDULES_PAGE),
    "form": Family("The form of a schedule.", SCHEDULES_PAGE),
    "order": Family("What a schedule has, and in which order.", SCHEDULES_PAGE),
    "no_kernel": Family("What needs no kernel.", SCHEDULES_PAGE),
    "movement": Family("Movement in schedules.", SCHEDULES_PAGE),
    "dedup": Family("What is computed once.", SCHEDULES_PAGE),
    "fusion": Family("What one kernel computes rather than two.", SCHEDULES_PAGE),
    "splits": Family("Reduces that are split.", SCHEDULES_PAGE),
    "copies": Family("Copies between devices, and collectives made of them.", SCHEDULES_PAGE),
    "assign": Family("Assigns, aliases, and the order of reads and writes.", SCHEDULES_PAGE),
    "variables": Family("Variables, and calls of functions.", SCHEDULES_PAGE),
    "memory": Family("Memory plans.", SCHEDULES_PAGE),
    "bodies": Family("What kernels compute, instruction by instruction.", SCHEDULES_PAGE),
    "staging": Family("Local memory and barriers in kernels.", SCHEDULES_PAGE),
    "replays": Family("Captured sequences.", SCHEDULES_PAGE),
    "waits": Family("Starts and waits in schedules.", SCHEDULES_PAGE),
    "communication": Family("Memory of communicators, and how collectives are called.", SCHEDULES_PAGE),
    "law": Family("The values that a schedule gives.", SCHEDULES_PAGE),
}
"""Every family by the word before the number of its clauses."""


def document_of(clause: str) -> str:
    """Return the page of a clause, with its anchor there."""
    return f"{FAMILIES[clause.partition('.')[0]].page}#{clause.lower()}"
