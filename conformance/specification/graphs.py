"""The page on lazy tensor graphs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from conformance.reference.graph import conversion, elementwise, evaluate, movement, nodes
from conformance.specification.clause_table import clause_lines
from conformance.specs.graphs import CLAUSES


def graph_lines() -> list[str]:
    """Return the lines of the page, below its title."""
    return [
        "## What a graph means",
        "",
        "A graph is a list of nodes over named buffers. A round lists some more of its nodes, then asks for values and",
        "reads buffers. The meaning is eager evaluation of the nodes in list order. A node that names storage (a",
        "buffer, or movement of one) is worth what is stored there when it is used. A computed node is worth what it",
        "came to when it was listed. An element of a value has one right value, or a bound around it, or nothing is",
        "said of it.",
        "",
        *_functions((evaluate.evaluate, evaluate.run, nodes.leaf, nodes.computed)),
        "## Movement",
        "",
        *_functions((movement.moved,)),
        "## Elementwise operations and folds",
        "",
        "| operation | on NumPy arrays |",
        "| --- | --- |",
        *[f"| `{name}` | `{_said(function)}` |" for name, function in elementwise.FUNCTIONS.items()],
        "",
        *_functions((elementwise.apply, elementwise.fold, elementwise.identity, *_public(conversion))),
        "## Clauses of graphs",
        "",
        *clause_lines(CLAUSES),
    ]


def _said(function: Callable[..., Any]) -> str:
    """Return a function as a line: its name, or what it computes."""
    name = getattr(function, "__name__", "")
    if name != "<lambda>":
        return name.strip("_")
    text = " ".join(inspect.getsource(function).split())
    return text.partition("lambda ")[2].rstrip(", }").replace("|", "\\|")


def _public(module: Any) -> list[Callable[..., Any]]:
    found = inspect.getmembers(module, inspect.isfunction)
    return [function for name, function in found if not name.startswith("_") and function.__module__ == module.__name__]


def _functions(functions: Iterable[Callable[..., Any]]) -> list[str]:
    lines = []
    for function in functions:
        lines += ["```python", inspect.getsource(function).rstrip(), "```", ""]
    return lines
