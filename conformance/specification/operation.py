"""The chapter of one operation: signature, meaning, example, names and clauses."""

from __future__ import annotations

import inspect
from textwrap import dedent
from typing import Final, get_args

from conformance.reference.operations import OPERATIONS
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import ATTRIBUTES
from conformance.specification.clause_table import clause_lines
from conformance.specification.example import example_call, example_table
from conformance.specification.pictures import picture_lines
from conformance.specs import Op

_ROW: Final = "for each rank a row of whole numbers, of any integer dtype"

HELD: Final = {
    "tokens": "for each rank the token of a send",
    **dict.fromkeys(("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), _ROW),
}
"""What operands hold that are no blocks like others."""


def operation_lines(op: Op) -> list[str]:
    """Return the lines of the chapter."""
    return [
        f"### {op.name}",
        "",
        op.summary,
        "",
        *_signature(op),
        *_meaning(op),
        *picture_lines(op.name),
        *_examples(op),
        *_names(op),
        "**Clauses**",
        "",
        *clause_lines(op.clauses),
        *_shared(op),
    ]


def _signature(op: Op) -> list[str]:
    signature = inspect.signature(OPERATIONS[op.name])
    operands = [name for name, one in signature.parameters.items() if one.kind is not one.KEYWORD_ONLY]
    lines = ["| argument | kind | values |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | operand | {HELD.get(name, 'a block for each rank')} |" for name in operands]
    for name, hint in ATTRIBUTES[op.name].items():
        default = signature.parameters[name].default
        given = "" if default is inspect.Parameter.empty else f", `{default}` by default"
        lines.append(f"| `{name}` | attribute | {_values(op, name, hint)}{given} |")
    return [*lines, "| `groups` | groups | groups of ranks, made from the axes and groups of the step |", ""]


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
    return ["**Meaning.** " + text, "", "```python", code, "```", ""]


def _examples(op: Op) -> list[str]:
    if not op.examples:
        return [f"**Example.** {op.no_example}", ""]
    example = op.examples[0]
    return [f"**Example.** {example_call(op.name, example)}", "", *example_table(op.name, example), ""]


def _names(op: Op) -> list[str]:
    if not op.aliases:
        return []
    names = "; ".join(f"{system}: {', '.join(f'`{n}`' for n in known)}" for system, known in op.aliases.items())
    return [f"**Names.** {names}.", ""]


def _shared(op: Op) -> list[str]:
    families = dict.fromkeys(clause.id.partition(".")[0] for clause in op.shares)
    links = ", ".join(f"[{family}](#clauses-of-{family})" for family in families)
    return [f"The clauses of {links} hold as well.", ""] if links else []
