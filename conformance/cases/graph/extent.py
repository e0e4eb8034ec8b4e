"""Extents: a number, the name of a variable, or an expression over numbers and variables, as ``n + 1`` or ``n * m``.

An expression has ``+``, ``-``, ``*`` and brackets, of whole numbers and names, and ``//`` and ``%`` by numbers above 0.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

Dim = int | str
Values = Mapping[str, int]
"""What the variables stand for."""

LONGEST: Final = 200
"""Characters of an expression: more than any shape needs, and so few that none nests too deeply to be read."""

MANY: Final = 6
"""Variables of one expression up to which all ends of their ranges are tried together."""

_OPERATIONS: Final = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr | None:
    """Return an expression as a tree, or ``None`` for what is a name and nothing else."""
    if text.isidentifier() or len(text) > LONGEST:
        return None
    try:
        found = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return found if all(_known(each) for each in ast.walk(found)) else None


def _known(part: ast.AST) -> bool:
    if isinstance(part, ast.Constant):
        return type(part.value) is int
    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv | ast.Mod):
        return isinstance(part.right, ast.Constant) and type(part.right.value) is int and part.right.value > 0
    return isinstance(part, (ast.BinOp, ast.Name, ast.Load, *_OPERATIONS))


def names_in(dim: Dim) -> frozenset[str]:
    """Return the variables that an extent speaks of; text that is no expression is the name of one."""
    if isinstance(dim, int):
        return frozenset()
    found = _parsed(dim)
    return frozenset({dim} if found is None else (each.id for each in ast.walk(found) if isinstance(each, ast.Name)))


def evaluated(dim: Dim, values: Values) -> int:
    """Return an extent as a number; raise ``KeyError`` for a variable without a value."""
    if isinstance(dim, int):
        return dim
    found = None if dim in values else _parsed(dim)
    return values[dim] if found is None else _evaluated(found, values)


def _evaluated(part: ast.expr, values: Values) -> int:
    if isinstance(part, ast.BinOp):
        found: int = _OPERATIONS[type(part.op)](_evaluated(part.left, values), _evaluated(part.right, values))
        return found
    if isinstance(part, ast.Name):
        return values[part.id]
    assert isinstance(part, ast.Constant)
    return int(part.value)  # type: ignore[arg-type]  # ``_known`` lets whole numbers through alone


def sizes(extents: tuple[Dim, ...], values: Values) -> tuple[int, ...]:
    """Return extents as numbers; raise ``KeyError`` for a variable without a value."""
    for extent in extents:
        if not isinstance(extent, int):
            return tuple([each if isinstance(each, int) else evaluated(each, values) for each in extents])
    return extents  # type: ignore[return-value]  # all of them are numbers, as of nearly every shape


def greatest(dim: Dim, low: Values, high: Values) -> int:
    """Return the most that an extent may be, when every variable is between ``low`` and ``high``.

    Sums and products are largest where each variable is at an end of its range. Of more than six variables all are
    taken at their greatest.
    """
    spoken = sorted(names_in(dim))
    if len(spoken) > MANY:
        return evaluated(dim, high)
    corners: list[dict[str, int]] = [{}]
    for name in spoken:
        corners = [{**each, name: end} for each in corners for end in {low[name], high[name]}]
    return max(evaluated(dim, corner) for corner in corners)


MOST_POINTS: Final = 1 << 26
"""Points of one map, and elements of one node: what can be enumerated within the memory of a small machine."""

MOST_AXES: Final = 32
"""Axes of one map, body or node: half of what NumPy 2 has, so that none is lacking where some are added."""


def countable(shape: tuple[int, ...]) -> bool:
    """Return whether the points of a shape can be enumerated; each extent counts, where another is 0 too."""
    if not shape:
        return True
    within = len(shape) <= MOST_AXES and min(shape) >= 0 and max(shape) <= MOST_POINTS
    return within and math.prod(shape) <= MOST_POINTS
