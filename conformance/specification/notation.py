"""How steps and functions are written: what a reader needs before the first operation."""

from __future__ import annotations

import inspect
from typing import Final

from conformance.cases.program.program import Axis, Groups, lines, offsets_of, rank_groups
from conformance.cases.tensor.dtypes import ROWS
from conformance.specification.evaluation import evaluation_lines
from conformance.specification.reductions import reduction_lines
from conformance.specification.steps import step_lines, table

MESH: Final = (Axis(name="i", size=2), Axis(name="j", size=2))

CALLS: Final[tuple[tuple[tuple[str, ...], Groups | None], ...]] = (
    (("j",), None),
    (("i",), None),
    (("i", "j"), None),
    (("j", "i"), None),
    (("j", "i"), ((0, 1, 3), (2,))),
    (("i",), ((1, 0),)),
)
"""Axes and groups of the steps in the example."""

PARTS: Final = {
    "`y`, `x`": "the names of the result and of the operand. A step may have several of each: the operation is applied "
    "to each operand alone, unless its chapter lists several operands. One operand may be given more than once.",
    "`token`": "the result of a send, which a recv takes. It is no value: it has no dtype, no shape and no elements.",
    '`op="sum"`': "the attributes; they are the same on every rank.",
    "`over j, i`": "the mesh axes along which ranks meet. Ranks that differ in other coordinates do not meet. With "
    "nothing behind `over` no axis is named, and each rank is a group of its own: what operations are then, "
    "`collective.C21` and `collective.C30` say, whatever their functions would give.",
    "`groups {0 1 3} {2}`": "the groups, as positions along the named axes, not as ranks. Without them all positions "
    "are one group.",
}

FUNCTIONS: Final = {
    "`blocks: list[Array]`": "an operand: at index r the block of rank r, a NumPy array. A function of an operation "
    "returns its result in the same form.",
    "`Groups`, `Terms`": "tuples of tuples of whole numbers, and lists of arrays.",
    "`groups: Groups`": "groups of *ranks* in member order, made from the positions that the step names by "
    "`rank_groups` below.",
    "`Axis`": "a mesh axis: its `name` and its `size`.",
    "`None` for a block": "the rank has no result.",
    "`raise Rejected(clause, …)`": "the program is rejected, by that clause.",
    "`op`, `factor`": "the reduction, and the factor of premul_sum.",
    "`terms(…)`, `folded(…)`": "a reduction in two parts: the terms that are folded on each rank, in order, and their "
    "fold, [`fold`](#functions-that-operations-call).",
    "`@operation(…)`": "the kind of the operation, for tools; it changes no value.",
    "*name*`_in(…)`, `partition`, `equal_sizes`, `check…`": "checks: each returns what it was given or raises "
    "`Rejected`.",
}


def notation_lines() -> list[str]:
    """Return the lines of the chapter."""
    return [
        "## How a step is written",
        "",
        "```text",
        'y = all_reduce(x, op="sum") over j, i, groups {0 1 3} {2}',
        "```",
        "",
        *table("part", "meaning", PARTS),
        "",
        "On the mesh `i = 2, j = 2`, ranks have these coordinates and positions:",
        "",
        "| rank | coordinates (i, j) | position over `j` | over `i` | over `i, j` | over `j, i` |",
        "| --- | --- | --- | --- | --- | --- |",
        *[_positions(rank) for rank in range(4)],
        "",
        "and a step with these axes and groups has these groups of ranks, in member order:",
        "",
        "| axes | groups of positions | groups of ranks |",
        "| --- | --- | --- |",
        *[_call(axes, groups) for axes, groups in CALLS],
        "",
        "A root, a pair and a source are positions inside a group: in the group of the ranks 0, 2 and 3, the root 1 is",
        "rank 2.",
        "",
        *step_lines(),
        *_values(),
        *_dtypes(),
        *reduction_lines(),
        "## How a function is written",
        "",
        "The function beside an operation takes its operands and attributes as NumPy arrays and Python values:",
        "",
        *table("word", "meaning", FUNCTIONS),
        "",
        "```python",
        inspect.getsource(rank_groups).rstrip(),
        "",
        "",
        inspect.getsource(lines).rstrip(),
        "",
        "",
        inspect.getsource(offsets_of).rstrip(),
        "```",
        "",
        *evaluation_lines(),
    ]


def _values() -> list[str]:
    """Return the lines on how elements are written."""
    return [
        "## How values are written",
        "",
        "`float32[2, 3]` is a block of that dtype and shape, and `float32[]` one without axes. A decimal number",
        "stands for the nearest number of the dtype, so `0.1` is no tenth. `-0` is the negative zero,",
        "`nan(0x7fc00001)` the NaN with these bits, and `(3-0j)` a complex number. Bits of a stored tensor are",
        "hexadecimal, its bytes in the order of memory, the least byte of an element first. A result is *nothing*",
        "on a rank that has none. The names of results follow the steps: `return y, z`.",
        "",
    ]


def _dtypes() -> list[str]:
    """Return the lines of the chapter on dtypes."""
    families = dict.fromkeys(row.kind for row in ROWS)
    return [
        "## Dtypes",
        "",
        "Integers wrap around at their width; those whose names begin with `int` are in two's complement. Floats are",
        "named as NumPy and ml_dtypes name them, with bits of exponent and mantissa where other formats are as wide.",
        "",
        "| family | dtypes, with their bits |",
        "| --- | --- |",
        *[
            f"| {family} | {', '.join(f'`{row.name}` ({row.bits})' for row in ROWS if row.kind == family)} |"
            for family in families
        ],
        "",
    ]


def _positions(rank: int) -> str:
    cells = [str(divmod(rank, 2))]
    for axes in (("j",), ("i",), ("i", "j"), ("j", "i")):
        line = next(line for line in lines(MESH, axes) if rank in line)
        cells.append(str(line.index(rank)))
    return f"| {rank} | {' | '.join(cells)} |"


def _call(axes: tuple[str, ...], groups: Groups | None) -> str:
    given = "none" if groups is None else _braced(groups)
    return f"| `{', '.join(axes)}` | {given} | {_braced(rank_groups(MESH, axes, groups))} |"


def _braced(groups: Groups) -> str:
    return " ".join("{" + " ".join(map(str, group)) + "}" for group in groups)
