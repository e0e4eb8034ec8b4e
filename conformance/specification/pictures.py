"""Pictures of ranks: what each holds before and after an operation, computed by its reference function.

Every element of the operands has a bit of its own, so that a sum shows which elements it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any, Final

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations import OPERATIONS


@dataclass(frozen=True)
class Picture:
    """A call on blocks with ``rows`` elements on each rank, of one group of all; ``attrs`` are its attributes.

    ``tables`` are further operands, of integers, after ``output``, the number of rows of an operand to write into.
    """

    rows: Sequence[int]
    attrs: Mapping[str, Any]
    said: str
    output: int = 0
    tables: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)


PICTURES: Final[dict[str, Picture]] = {
    "all_gather": Picture((2, 2), {"axis": 0, "tiled": True}, "axis 0, tiled"),
    "all_reduce": Picture((2, 2, 2), {"op": "sum"}, "sum"),
    "all_to_all": Picture(
        (3, 3, 3), {"split_axis": 0, "concat_axis": 0, "tiled": True}, "split and concat axis 0, tiled"
    ),
    "all_to_all_uneven": Picture(
        (3, 3), {"sends": ((1, 2), (3, 0)), "receives": ((1, 3), (2, 0))}, "sends (1, 2) of rank 0 and (3, 0) of rank 1"
    ),
    "broadcast": Picture((2, 2, 2), {"root": 1}, "root 1"),
    "gather": Picture((1, 1, 1), {"root": 2, "axis": 0, "tiled": True}, "root 2, axis 0, tiled"),
    "permute": Picture((1, 1, 1, 1), {"pairs": ((0, 1), (1, 2), (3, 3))}, "pairs (0, 1), (1, 2), (3, 3)"),
    "ragged_all_to_all": Picture(
        (3, 3),
        {},
        "input_offsets [0, 1] and [0, 1], send_sizes [1, 2] and [1, 1], output_offsets [0, 0] and [1, 2]",
        output=4,
        tables={
            "input_offsets": ((0, 1), (0, 1)),
            "send_sizes": ((1, 2), (1, 1)),
            "output_offsets": ((0, 0), (1, 2)),
            "recv_sizes": ((1, 1), (2, 1)),
        },
    ),
    "reduce": Picture((2, 2, 2), {"op": "sum", "root": 1}, "sum, root 1"),
    "reduce_scatter": Picture((3, 3, 3), {"op": "sum", "axis": 0, "tiled": True}, "sum, axis 0, tiled"),
    "scan": Picture((1, 1, 1), {"op": "sum", "exclusive": False}, "sum, inclusive"),
    "scatter": Picture((3, 3, 3), {"root": 1, "axis": 0, "tiled": True}, "root 1, axis 0, tiled"),
    "shuffle": Picture((1, 1, 1), {"sources": (1, 2, 0)}, "sources (1, 2, 0)"),
}
"""What is drawn of each operation for which a picture says more than its sentence."""


def picture_lines(name: str) -> list[str]:
    """Return the lines of Markdown with the picture of an operation; none where it has none."""
    lines = drawn(name)
    return [f"**Picture.** {lines[0]}", "", "```text", *lines[1:], "```", ""] if lines else []


def drawn(name: str) -> list[str]:
    """Return the picture of an operation, a line a rank, below what is drawn; nothing where it has none."""
    if name not in PICTURES:
        return []
    one = PICTURES[name]
    world = len(one.rows)
    blocks, names = _named(one.rows)
    operands = [blocks]
    if one.output:
        operands.append([np.full(one.output, 1 << (len(names) + rank), np.int64) for rank in range(world)])
        names += ["."] * world
    tables = [[np.array(row, np.int64) for row in table] for table in one.tables.values()]
    made = OPERATIONS[name](*operands, *tables, **one.attrs, groups=(tuple(range(world)),))
    before = [[_shown(operand[rank], names) for rank in range(world)] for operand in operands]
    widths = [max(map(len, column)) for column in before]
    titles = ["blocks"] if len(before) == 1 else ["operand", "output"]
    lines = [f"{one.said}:", _row("", titles, widths, "result", "")]
    for rank, block in enumerate(made):
        cells = [column[rank] for column in before]
        lines.append(_row(f"rank {rank}", cells, widths, _shown(block, names), "->"))
    return lines


def _named(rows: Sequence[int]) -> tuple[list[Array], list[str]]:
    """Return a block of distinct bits for each rank, and the name of each bit: the rank's letter and the row."""
    blocks, names = [], list[str]()
    for rank, count in enumerate(rows):
        blocks.append(np.array([1 << (len(names) + row) for row in range(count)], np.int64))
        names += [ascii_lowercase[rank] + (str(row) if count > 1 else "") for row in range(count)]
    return blocks, names


def _shown(block: Array | None, names: Sequence[str]) -> str:
    if block is None:
        return "nothing"
    cells = ["+".join(name for bit, name in enumerate(names) if int(each) >> bit & 1) or "0" for each in block]
    return f"[{'  '.join(cells)}]"


def _row(title: str, cells: Sequence[str], widths: Sequence[int], result: str, arrow: str) -> str:
    shown = "   ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"{title:<8}{shown}   {arrow:<2}   {result}".rstrip()
