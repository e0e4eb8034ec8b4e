"""The page on lazy tensor graphs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from conformance.reference.graph import conversion, elementwise, evaluate, movement, nodes
from conformance.specification.clause_table import clause_lines
from conformance.specification.functions import called_lines, function_lines
from conformance.specs.graphs import CLAUSES

RIGHT: Final = """\
A case of several rounds is written with a line `round 0`, `round 1`, … before each. `write b0: int32[1] [-1]` is a
write from outside, `with n = 1` gives a variable its value, and `return 0/y, 0/buffer/x` is what a round asks for and
reads. An operation of `alu` is written as a call, `or(a, b)`, and a collective with its members, `all_reduce(a, b,
op="sum") among d0 d1`. Of a program on sharded tensors `at {…}` behind a buffer, a copy or a reduce is its placement,
`{}` a replica on every device.

A round says how many nodes are listed by its end (`until`), what is written into whole buffers from outside before
them (`writes`), which values are `asked` for, and which buffers are `read` after that. The key of a value is the
number of the round and the name of the node, `0/y`; that of a buffer is `0/buffer/x`.

An element of a value has one right value, or several right values within an error bound, or nothing is said of it:

- What rounds nowhere, or in its last operation alone, has one right value: every operation on floats rounds once to
  its dtype (`graph.C8`). The sign of a computed zero and the payload of a computed NaN are free.
- A fold of which some order rounds, and an operation on operands that were rounded before, may be computed in another
  order, fused with the operation before it, or accumulated in a wider dtype. Right values are then within `k * u * m`
  of the real number (`graph.C3`): `u` is the unit roundoff of the dtype, half the distance from 1 to the next number;
  `m` is the sum of the magnitudes of the terms that the value is made of; `k` is how often a permitted way to compute
  it rounds.
- Nothing is said of what a free choice decides: a quotient by a zero of free sign, the bits of a value that is only
  bounded, a sum that overflows in some order of its terms, and whatever is computed from these.
"""

NODES: Final = {
    "`buf`": ("the name of a buffer", "the elements that the buffer holds when the node is used"),
    "`const`": ("a number", "the number, at every index of the node's shape"),
    "`iota`": ("an axis", "at each index the index along the axis: 0, 1, 2, …"),
    "`var`": ("the name of a variable", "the value of the variable, without axes"),
    "`param`": ("a number", "in a function: the argument of the call with this number"),
    "`reshape`": ("", "the elements in row-major order in another shape"),
    "`expand`": ("", "axes of extent 1 repeated to the extents of the node's shape, which may be 0"),
    "`permute`": ("axes", "axis k of the result is axis number `axes[k]` of the source"),
    "`pad`": ("a pair for each axis", "so many zeros (+0) before and after the elements of each axis"),
    "`shrink`": ("a range for each axis", "the elements of the half-open range of each axis, which may be empty"),
    "`stride`": (
        "a step for each axis",
        "every step-th element from the first on; of a negative step from the last on",
    ),
    "`flip`": ("axes", "the elements along these axes in reverse order"),
    "`detach`": ("", "the value of the source; it is movement"),
    "`contig`": ("", "the value of the source, as a value of its own"),
    "`alu`": ("an operation below", "that operation, element by element, on sources brought to one dtype"),
    "`cast`, `bitcast`": ("", "the source converted to the node's dtype, or its bits read in that dtype"),
    "`reduce`": ("axes; a fold", "the fold of the elements along the axes, which the result does not have"),
    "`gather`": ("an axis", "along the axis, the elements of the first source that the second one numbers"),
    "`copy`": ("whether it is forced", "the value of the source, on the node's device or in another placement"),
    "`assign`": ("", "writes the second source into the storage that the first names; the value is that storage"),
    "`all_reduce`": ("a fold", "the fold of the sources, one for each device, on the node's device"),
    "`collective`": ("an operation", "what the node's device receives when the members run the operation"),
    "`call`, `item`": ("a function; a number", "a result of the function for the sources as arguments"),
}
"""What each operation of a node is given beside its sources, and its value."""

EVALUATION: Final = (evaluate.evaluate, evaluate.evaluated, evaluate.take, nodes.leaf, nodes.computed)
MOVING: Final = (movement.moved,)
ELEMENTWISE: Final = (elementwise.apply, elementwise.fold, elementwise.identity, conversion.cast)
"""The functions of each chapter."""


def graph_lines() -> list[str]:
    """Return the lines of the page, below its title."""
    return [
        "## What a graph means",
        "",
        "A graph is a list of nodes over named buffers. `y = add(a, b): float32[4] on d0` is the node `y`, with the",
        "sources `a` and `b`, the shape (4) and the device `d0`. A case has one round or several. Each round lists",
        "some more of the nodes, then asks for values of nodes, then reads buffers.",
        "",
        "The meaning is eager evaluation of the nodes in list order:",
        "",
        "- A `buf` node, and movement of one, is a name of storage. Its value is what is stored when it is used: by a",
        "  node that is listed, or at the end of the round that asks for it.",
        "- Any other node is computed when it is listed. Later writes do not change its value.",
        "",
        "```text",
        'x = buf("x"): int32[3]            x holds 1 2 3',
        "m = reshape(x): int32[3, 1]       a name of the storage of x",
        "y = add(x, x): int32[3]           computed now: 2 4 6",
        "z = assign(x, y): int32[3]        x holds 2 4 6",
        "return m, y                       m is [[2] [4] [6]], y is 2 4 6",
        "```",
        "",
        *RIGHT.splitlines(),
        "",
        "| node | argument | value |",
        "| --- | --- | --- |",
        *[f"| {name} | {given} | {worth} |" for name, (given, worth) in NODES.items()],
        "",
        *function_lines(EVALUATION),
        "## Movement",
        "",
        *function_lines(MOVING),
        "## Elementwise operations and folds",
        "",
        "| operation | on NumPy arrays |",
        "| --- | --- |",
        *[f"| `{name}` | `{_said(function)}` |" for name, function in elementwise.FUNCTIONS.items()],
        "",
        *function_lines(ELEMENTWISE),
        "## Clauses of graphs",
        "",
        *clause_lines(CLAUSES),
        "## Functions that nodes call",
        "",
        *called_lines((*EVALUATION, *MOVING, *ELEMENTWISE)),
    ]


def _said(function: Callable[..., Any]) -> str:
    """Return a function as a line: its name, or what it computes."""
    name = getattr(function, "__name__", "")
    if name != "<lambda>":
        return name.strip("_")
    text = " ".join(inspect.getsource(function).split())
    return text.partition("lambda ")[2].rstrip(", }").replace("|", "\\|")
