"""The page on sharded tensors: what a placement puts where, in pictures, and the clauses."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.program.program import Axis
from conformance.cases.sharded.placement import Placement, Split, positions
from conformance.reference.sharded.parts import Parts, Sharding
from conformance.specification.clause_table import clause_lines
from conformance.specs.sharded import CLAUSE_BY_ID

LETTERS: Final = np.array([list("abcd"), list("efgh")])

LINE: Final = (Axis(name="i", size=4),)
GRID: Final = (Axis(name="i", size=2), Axis(name="j", size=2))

SPLITS: Final = (
    ("Nothing is split: every device has a replica.", GRID, Placement()),
    (
        "Axis 0 is split along `i`. Along `j`, which is not named, there are replicas.",
        GRID,
        Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 1, 2)),)),
    ),
    (
        "Axis 0 is split along `i` and axis 1 along `j`.",
        GRID,
        Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 1, 2)), Split(axis=1, along=("j",), cuts=(0, 3, 4)))),
    ),
    (
        "Axis 1 is split along `j, i`: `j` is the major axis. The device at coordinates (0, 1) has part 2.",
        GRID,
        Placement(splits=(Split(axis=1, along=("j", "i"), cuts=(0, 1, 2, 3, 4)),)),
    ),
    (
        "Axis 1 is split along `i` into parts of 2, 0, 1 and 1 columns.",
        LINE,
        Placement(splits=(Split(axis=1, along=("i",), cuts=(0, 2, 2, 3, 4)),)),
    ),
)
"""What is drawn of the tensor ``LETTERS``."""


def sharding_lines() -> list[str]:
    """Return the lines of the page, below its title."""
    return [
        "## What a placement puts where",
        "",
        "The tensor is `[a b c d]` over `[e f g h]`, of shape (2, 4). Each picture lists what the devices hold, by",
        "their coordinates on the mesh.",
        "",
        *[line for said, mesh, placement in SPLITS for line in _split(said, mesh, placement)],
        *_partial(),
        *_masked(),
        "## What a program means",
        "",
        "A program on sharded tensors means what the same [graph](specification-graphs.md) means on whole tensors: the",
        "placements of its operands, and every move to another placement, change no value. What may be seen of an",
        "implementation are the parts that its devices hold, and the placement that it reports of them.",
        "",
        "## Clauses of sharded tensors",
        "",
        *clause_lines(CLAUSE_BY_ID.values()),
    ]


def _split(said: str, mesh: tuple[Axis, ...], placement: Placement) -> list[str]:
    placed = Sharding(mesh).placed(LETTERS, placement)
    return _picture(said, mesh, [_text(part) for part in placed.parts])


def _partial() -> list[str]:
    """Return the picture of contributions, whose fold is computed."""
    mesh = (Axis(name="i", size=2),)
    parts = (np.array([1, 2]), np.array([10, 20]))
    whole = Sharding(mesh).gathered(Parts((2,), Placement(partial={"i": "add"}), parts))
    said = f"Partial along `i` with the fold `add`: the devices hold contributions, and the tensor is {_text(whole)}."
    return _picture(said, mesh, [_text(part) for part in parts])


def _masked() -> list[str]:
    """Return the picture of a mask: parts that are not real are in no tensor."""
    mesh = (Axis(name="i", size=3),)
    placement = Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 2, 3, 5)),), masks={"i": (True, False, True)})
    whole = Sharding(mesh).placed(np.array(list("abcd")), placement)
    said = (
        "Split along `i` into parts of 2, 1 and 2 elements, of which the mask makes the second not real: the tensor is"
    )
    shown = [_text(part) if number != 1 else "[?]" for number, part in enumerate(whole.parts)]
    return _picture(f"{said} [a b c d].", mesh, shown)


def _picture(said: str, mesh: tuple[Axis, ...], shown: list[str]) -> list[str]:
    sizes = ", ".join(f"{axis.name} = {axis.size}" for axis in mesh)
    rows = [f"{_coordinates(at):<8} {text}" for at, text in zip(positions(mesh), shown, strict=True)]
    return [f"{said} Mesh `{sizes}`:", "", "```text", *rows, "```", ""]


def _coordinates(at: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, at))})"


def _text(part: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    """Return rows in brackets, side by side; a part without elements is its shape."""
    if not part.size:
        return f"no elements, shape {part.shape}"
    rows = part if part.ndim > 1 else part[np.newaxis]
    return "  ".join("[" + " ".join(map(str, row)) + "]" for row in rows.tolist())
