"""Movement that leaves its source, of a node of two axes."""

from __future__ import annotations

from conformance.cases.graph.graph import Node
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.graph_draft import GraphDraft
from conformance.generate.graphs.vocabulary import plainest

Wrong = tuple[str, tuple[int, ...], object]


def wrong_movements(rows: int, columns: int) -> tuple[Wrong, ...]:
    """Return operations on a node of such a shape, each with a shape and an argument that make it wrong."""
    return (
        ("shrink", (rows + 1, columns), ((0, rows + 1), (0, columns))),
        ("shrink", (rows, 2), ((0, rows), (columns - 1, columns + 1))),
        ("shrink", (1, columns), ((rows, rows + 1), (0, columns))),
        ("shrink", (rows, columns), ((-1, rows - 1), (0, columns))),
        ("reshape", (rows + 1, columns), None),
        ("reshape", (rows * columns - 1,), None),
        ("reshape", (rows, columns, 2), None),
        ("expand", (rows, columns + 1), None),
        ("expand", (2 * rows, columns), None),
        ("expand", (1, columns), None),
        ("permute", (rows,), (0,)),
        ("permute", (rows, columns), (0, 2)),
        ("flip", (rows, columns), (2,)),
        ("reduce", (rows, columns), (2,)),
    )


def moved_wrong(draw: Draw, asked: GraphDraft, source: Node) -> Node:
    """Add such movement of ``source`` and return it."""
    rows, columns = (int(str(extent)) for extent in source.shape)
    op, shape, arg = draw(choices.sampled_from(wrong_movements(rows, columns)))
    rest = {"fold": plainest(source.dtype)} if op == "reduce" else {}
    return asked.add(op, shape, source.dtype, source, arg=arg, **rest)
