"""The chapter of one operation: arguments, results, meaning, examples, names and clauses."""

from __future__ import annotations

import inspect
from textwrap import dedent
from typing import Final, get_args

from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import ATTRIBUTES
from conformance.specification.clause_table import clause_lines
from conformance.specification.example import example_lines
from conformance.specification.functions import beneath_lines
from conformance.specification.name_table import operation_name_lines
from conformance.specification.pictures import picture_lines
from conformance.specification.results import about_argument, result_lines
from conformance.specs import Op

_ROW: Final = "for each rank a row of whole numbers, of any integer dtype"

HELD: Final = {
    "tokens": "for each rank the token of a send",
    **dict.fromkeys(("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), _ROW),
}
"""What operands hold that are no blocks like others."""

FOLDS: Final = """\
**Order of the terms.** Any tree over the terms, in any order, is right (`numerics.C1`); the function folds from the
left in member order, which is one right order. See [numerics.md](numerics.md) for rounding, and the
[guarantees](#clauses-of-determinism) for bits that agree.
"""

MOVES: Final = """\
**Bits.** Elements are moved and not computed: every bit is kept (`collective.C18`).
"""

BESIDE: Final = """\
**Storage and time.** Of a target, and of an operation in place: [aliasing](#clauses-of-aliasing). Of a start and its
done: [async](#clauses-of-async). Of ranks that disagree, are late or die: [liveness](#clauses-of-liveness).
"""


def operation_lines(op: Op) -> list[str]:
    """Return the lines of the chapter."""
    return [
        f"### {op.name}",
        "",
        op.summary,
        "",
        *_signature(op),
        *result_lines(op.name),
        *_meaning(op),
        *_order(op),
        *picture_lines(op.name),
        *example_lines(op),
        *operation_name_lines(op.name),
        "**Clauses**",
        "",
        *clause_lines(op.clauses),
        *_shared(op),
    ]


def _signature(op: Op) -> list[str]:
    signature = inspect.signature(OPERATIONS[op.name])
    operands = [name for name, one in signature.parameters.items() if one.kind is not one.KEYWORD_ONLY]
    lines = ["| argument | kind | values | clauses |", "| --- | --- | --- | --- |"]
    lines += [_argument(op, name, "operand", HELD.get(name, "a block for each rank")) for name in operands]
    for name, hint in ATTRIBUTES[op.name].items():
        default = signature.parameters[name].default
        given = "" if default is inspect.Parameter.empty else f", `{default}` by default"
        lines.append(_argument(op, name, "attribute", f"{_values(op, name, hint)}{given}"))
    made = "groups of ranks, made from the axes and groups of the step"
    return [*lines, _argument(op, "groups", "groups", made), ""]


def _argument(op: Op, name: str, kind: str, values: str) -> str:
    clauses = ", ".join(f"`{clause}`" for clause in about_argument(op.name, name))
    return f"| `{name}` | {kind} | {values} | {clauses} |"


def _values(op: Op, name: str, hint: object) -> str:
    if name in ("sends", "receives"):
        return "a row of counts for each member"
    if name == "op":
        words = ("max", "min") if op.name == "arg_reduce" else tuple(REDUCTIONS)
        return ", ".join(f"`{word}`" for word in words)
    plain = {
        "int": "a whole number",
        "bool": "true or false",
        "float": "a number",
        "str": "a name",
        "tuple[int, ...]": "whole numbers",
        "tuple[tuple[int, ...], ...]": "pairs of positions",
    }
    said = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return plain.get(said, f"`{said}`")


def _meaning(op: Op) -> list[str]:
    said = inspect.getdoc(OPERATIONS[op.name]) or ""
    code = dedent(inspect.getsource(OPERATIONS[op.name])).rstrip()
    text = " ".join(said.replace("``", "`").split())
    return ["**Meaning.** " + text, "", "```python", code, "```", "", *beneath_lines(OPERATIONS[op.name])]


def _order(op: Op) -> list[str]:
    does = TABLE[op.name].does
    folds = does == "reduce" and op.name != "arg_reduce"
    order = FOLDS if folds else MOVES if does in ("gather", "exchange", "spread") else ""
    return [*order.splitlines(), *([""] if order else []), *BESIDE.splitlines(), ""]


def _shared(op: Op) -> list[str]:
    families = dict.fromkeys(clause.id.partition(".")[0] for clause in op.shares)
    links = ", ".join(f"[{family}](#clauses-of-{family})" for family in families)
    return [f"The clauses of {links} hold as well.", ""] if links else []
