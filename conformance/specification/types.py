"""The page on types of mesh axes and on transposes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from conformance.cases.types import axis_type
from conformance.reference.transforms import batching, transposes
from conformance.reference.transforms.pairing import COTANGENT, pairing
from conformance.reference.types import casts, collectives, local
from conformance.specification.clause_table import clause_lines
from conformance.specs.types.batches import BATCHES
from conformance.specs.types.clauses import TRANSPOSES, TYPES


def type_lines() -> list[str]:
    """Return the lines of the page, below its title."""
    said = " ".join((axis_type.__doc__ or "").split("\n\n")[1].split())
    rules = (collectives.all_reduce, collectives.all_gather, collectives.reduce_scatter, collectives.moved)
    return [
        "## States",
        "",
        said.replace("``", "`"),
        "",
        "| from | to | cast |",
        "| --- | --- | --- |",
        *[f"| {old} | {new} | there is one |" for old, new in sorted(casts.TABLE)],
        "",
        "## Rules",
        "",
        "A rule is given the type of the operand and the mesh axes that the operation names.",
        "",
        *_functions((casts.cast, casts.one_state, casts.made_varying, *rules, collectives.broadcast)),
        *_functions((local.taken, local.local)),
        "## Clauses of types",
        "",
        *clause_lines(TYPES),
        "## Transposes",
        "",
        "A value and its cotangent have these states along an axis:",
        "",
        "| value | cotangent |",
        "| --- | --- |",
        *[f"| {state} | {other} |" for state, other in COTANGENT.items()],
        "",
        *_functions((pairing, *dict.fromkeys(transposes.TRANSPOSES.values()))),
        "## Clauses of transposes",
        "",
        *clause_lines(TRANSPOSES),
        "## Mapping over new axes",
        "",
        *_functions((batching.batched, batching.sliced, batching.stacked)),
        "## Clauses of mapping",
        "",
        *clause_lines(BATCHES),
    ]


def _functions(functions: Iterable[Callable[..., Any]]) -> list[str]:
    lines = []
    for function in functions:
        lines += ["```python", inspect.getsource(function).rstrip(), "```", ""]
    return lines
