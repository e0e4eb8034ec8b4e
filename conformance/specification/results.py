"""Shape and dtype of what each operation gives, with the clauses that say so, and the clauses about each argument."""

from __future__ import annotations

from typing import Final

from conformance.specs import OPS

_BLOCKS: Final = (
    "collective.C2",
    "collective.C4",
    "collective.C11",
    "collective.C16",
    "collective.C19",
    "collective.C20",
)

_ALL: Final[dict[str, tuple[str, ...]]] = {
    "blocks": _BLOCKS,
    "groups": ("collective.C5", "collective.C7", "collective.C8", "collective.C10"),
    "op": ("reduction.C14", "reduction.C15", "reduction.C16"),
    "factor": ("reduction.C8", "reduction.C17", "numerics.C19"),
    "pairs": ("pairs.C1", "pairs.C2", "pairs.C3", "pairs.C4"),
}
"""Clauses about arguments that several operations have."""


def about_argument(op: str, name: str) -> tuple[str, ...]:
    """Return the ids of the clauses about an argument of an operation."""
    uneven = ("collective.C6",) if name == "groups" else ()
    return tuple(dict.fromkeys((*OPS[op].arguments.get(name, ()), *_ALL.get(name, ()), *uneven)))


def result_lines(op: str) -> list[str]:
    """Return the lines of the table of results."""
    lines = ["**Result.** `shape` is that of a block, and `n` the size of its group:", ""]
    lines += ["| form | shape | dtype | clauses |", "| --- | --- | --- | --- |"]
    for each in OPS[op].results:
        named = ", ".join(f"`{clause}`" for clause in each.clauses)
        shape = f"`{each.shape}`" if each.shape else "nothing"
        lines.append(f"| {each.form or 'every'} | {shape} | {each.dtype} | {named} |")
    return [*lines, ""]
