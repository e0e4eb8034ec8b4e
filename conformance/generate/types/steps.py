"""Steps of typed programs: for each operation the attributes that fit an operand, and the shape of what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from conformance.cases.program.program import Attr, Axis
from conformance.generate import choices
from conformance.generate.calls.draft import Draft
from conformance.generate.calls.vocabulary import call_of
from conformance.generate.choices import Draw
from conformance.generate.programs.script import made

Shape = tuple[int, ...]


class Fitting(NamedTuple):
    """Attributes of an operation, and the shape of its result."""

    attrs: Mapping[str, Attr]
    shape: Shape


FITTING: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "shuffle", "broadcast")
"""Collectives with one operand, but for the cast."""


def fitting(draw: Draw, op: str, shape: Shape, size: int) -> Fitting | None:
    """Draw a call of a collective on a block among so many members; ``None`` where the shape does not fit."""
    drawn = Draft(draw, (Axis("i", size),), ("i",), None, "int32")
    sums = ["sum", "sum", "sum", "max", "min"] + ["mean"] * 2 * (size.bit_count() == 1)
    folds: dict[str, Attr] = {"op": draw(choices.within(sums, "op")) if op == "all_reduce" else "sum"}
    found = call_of(draw, op, drawn, shape, (drawn, folds, "any"))
    result = None if found is None else made(*found)
    if found is None or result is None:
        return None
    attrs = dict(found[1].attrs)
    rank = len(shape) + (op == "all_gather" and not attrs["tiled"])
    for name in ("axis", "split_axis", "concat_axis"):
        if isinstance(at := attrs.get(name), int):
            attrs[name] = at % rank
    if op == "all_gather":
        attrs["to"] = draw(choices.within([*["varying", "invariant", "reduced"] * 3, "unreduced"], "to"))
    return Fitting(attrs, result[0][0])


def ragged(draw: Draw, sent: Shape, written: Shape, size: int) -> Fitting | None:
    """Draw slices of one or two for each pair of members, some without rows, read anywhere and written side by side."""
    if not sent or not written or sent[1:] != written[1:]:
        return None
    each = draw(choices.integers(1, 2))
    starts, counts, places = ([[0] * (size * each) for _ in range(size)] for _ in range(3))
    arriving = [[0] * (size * each) for _ in range(size)]
    for receiver in range(size):
        free = 0
        for sender in range(size):
            for number in range(receiver * each, (receiver + 1) * each):
                count = draw(choices.integers(0, min(2, sent[0], written[0] - free)))
                gap = draw(choices.sampled_from([0, 0, 1])) if free + count < written[0] else 0
                starts[sender][number] = draw(choices.integers(0, sent[0] - count))
                counts[sender][number], places[sender][number] = count, free + gap
                arriving[receiver][sender * each + number % each] = count
                free += gap + count
    tables = zip(
        ("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), (starts, counts, places, arriving), strict=True
    )
    return Fitting({name: tuple(map(tuple, rows)) for name, rows in tables}, written)
