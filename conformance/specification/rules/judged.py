"""Who is judged on what: the implementations that a clause is asked of, by its family."""

from __future__ import annotations

from typing import Final

JUDGED: Final[dict[str, tuple[str, ...]]] = {
    "programs": ("opencl", "jax", "torch", "mpi", "mlx", "tinygrad", "stablehlo"),
    "graphs": ("opencl", "jax", "torch", "stablehlo", "tinygrad"),
    "sharded": ("opencl", "jax", "torch", "tinygrad"),
    "typed": ("opencl", "jax", "torch"),
    "pulled back": ("opencl", "jax", "torch", "tinygrad"),
    "pushed forward": ("opencl", "jax"),
    "mapped": ("opencl", "jax", "torch"),
    "lowered": ("opencl", "jax"),
    "compiled": ("jax",),
    "schedules": ("opencl", "tinygrad", "jax", "torch"),
    "communicating": ("opencl", "torch"),
    "traced": ("torch",),
}
"""Who is asked about what: the systems that have words for it, of which each names more in its claims."""

_FAMILIES: Final = {
    "graph": "graphs",
    "sharded": "sharded",
    "types": "typed",
    "starts": "typed",
    "transposes": "pulled back",
    "pushes": "pushed forward",
    "batches": "mapped",
    "lowering": "lowered",
    "communication": "communicating",
    **dict.fromkeys(
        (
            *("answer", "form", "order", "no_kernel", "movement", "dedup", "fusion", "splits", "copies", "assign"),
            *("variables", "memory", "bodies", "staging", "replays", "waits", "law"),
        ),
        "schedules",
    ),
}

_COMMUNICATION: Final = {
    "memory.C9": "communicating",
    "communication.C17": "traced",
    "communication.C18": "traced",
    "communication.C19": "traced",
    "communication.C20": "traced",
}
"""The clauses about communication in schedules that fewer are asked about than the others of their families."""

COMPILED: Final = ("lowering.C12", "lowering.C13", "lowering.C14", "lowering.C15", "lowering.C16")
"""The clauses of the family ``lowering`` that are about what was compiled."""


def asked_about(clause: str) -> str:
    """Return what a clause is about, a key of ``JUDGED``."""
    if clause in _COMMUNICATION:
        return _COMMUNICATION[clause]
    return "compiled" if clause in COMPILED else _FAMILIES.get(clause.partition(".")[0], "programs")


def judged_on(clauses: tuple[str, ...]) -> tuple[str, ...]:
    """Return the systems that at least one of ``clauses`` is asked of, in a fixed order."""
    found = {name for clause in clauses for name in JUDGED[asked_about(clause)]}
    return tuple(name for name in JUDGED["programs"] if name in found)


NEVER: Final[dict[str, str]] = {
    "communication.C2": "is about buffers of a communicator of variable size, which no program of collectives has",
    "no_kernel.C12": "is about a buffer that was asked for empty and never written, which no draw assigns",
}
"""The clauses about schedules that speak in no run of any backend, and why: no rule may rest on one."""
