"""ragged_all_to_all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.features import LONG
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.judging.subject import Subject
from conformance.reference.situations import MANY, extent_word, rank_word
from conformance.specs.domains import choices
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.domains.wrong_slices import MISUSE, MISUSES, TABLES, WRONG_REST
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, rejection, value

OF_ONE_OPERAND = frozenset(f"collective.C{number}" for number in (16, 21, 26, 27, 29, 30))
"""Clauses about blocks without axes, several operands or none, and no axis, of operations that are mapped."""


def given(subject: Subject, name: str) -> Operand:
    """Return one of the operands as the program has it: the input, also of a buffer."""
    used = subject.step.inputs[("operand", "output", *TABLES).index(name)]
    return subject.case.inputs[subject.case.program.buffers.get(used, used)]


def table(subject: Subject, name: str, rank: int) -> list[int]:
    """Return one table of one rank."""
    return [int(n) for n in to_array(given(subject, name).blocks[rank])]


def several_slices(subject: Subject) -> bool:
    """Speak about cases with more slices than members in a group."""
    return len(table(subject, "send_sizes", 0)) > len(subject.groups[0])


def empty_slices(subject: Subject) -> bool:
    """Speak about cases in which some slice has no rows."""
    return any(0 in table(subject, "send_sizes", rank) for rank in range(subject.case.program.world))


def written_rows(subject: Subject) -> Iterator[list[int]]:
    """Yield, for every receiver, the rows of its output that slices write, in order and with repeats."""
    for group in subject.groups:
        each = len(table(subject, "send_sizes", group[0])) // len(group)
        for p in range(len(group)):
            rows: list[int] = []
            for sender in group:
                for i in range(p * each, (p + 1) * each):
                    at = table(subject, "output_offsets", sender)[i]
                    rows += range(at, at + table(subject, "send_sizes", sender)[i])
            yield rows


def overlapping(subject: Subject) -> bool:
    """Speak about cases in which two slices write one row of a receiver."""
    return any(len(set(rows)) < len(rows) for rows in written_rows(subject))


def rows_left(subject: Subject) -> bool:
    """Speak about cases in which some receiver has rows that no slice writes."""
    space = given(subject, "output").blocks[0].shape[0]
    return any(len(set(rows)) < space for rows in written_rows(subject))


_RESTS: Final = choices.steered([(), (2,), (0,), (2, 1), (5, 7)], ("rank",), lambda rest: (rank_word(1 + len(rest)),))


_UNLIKE: Final = choices.sampled_from([False, False, True])
_TABLE_DTYPES: Final = choices.sampled_from(["int32", "int64", "uint8", "int16", "uint32"])
"""Dtypes of tables: each may have one of its own."""


@cache
def rows_of(width: int, rest: tuple[int, ...], members: int) -> choices.Choice[int]:
    """Return the rows of operands, a few or as many as make them long."""
    each = math.prod(rest)
    found = [4, 2, 6, 4, 2, 6, 1, 17, 20, -(-MANY // max(each, 1)), -(-LONG // (width * max(each, 1)))]
    words = [extent_word(rows * each, width, members) for rows in found]
    # Long ones are made where they are a goal.
    listed = [(rows, word) for rows, word in zip(found, words, strict=True) if word not in ("long", "many")] * 8
    listed += [(rows, word) for rows, word in zip(found, words, strict=True) if word in ("long", "many")][:2]
    return choices.steered(listed, ("extent",), lambda one: (one[1],)).map(lambda one: one[0])


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw slices that fit, overlap, are empty, and now and then do not fit; one or two for every member."""
    drawn: Draft = draft(draw, groups=EQUAL)
    size, each = drawn.member_count, draw(choices.sampled_from([1, 1, 2]))
    rest = draw(_RESTS)
    rows, space = draw(rows_of(drawn.width, rest, size)), draw(choices.sampled_from([6, 3, 4]))
    space = rows if rows not in (4, 2, 6) and draw(choices.booleans()) else space
    length = size * each
    counts = draw(choices.lists(choices.sampled_from([1, 0, 2]), min_size=length * size, max_size=length * size))
    sends = np.minimum(np.array(counts, np.int64), min(rows, space)).reshape(size, length)
    starts = draw(choices.lists(choices.integers(0, 8), min_size=length, max_size=length))
    ats = draw(choices.lists(choices.integers(0, 8), min_size=length * size, max_size=length * size))
    inputs = np.stack([[starts[i] % (rows - int(sends[q][i]) + 1) for i in range(length)] for q in range(size)])
    outputs = np.array(
        [[ats[q * length + i] % (space - int(sends[q][i]) + 1) for i in range(length)] for q in range(size)]
    )
    receives = sends.reshape(size, size, each).transpose(1, 0, 2).reshape(size, length)
    tables: dict[str, Any] = dict(zip(TABLES, (inputs, sends, outputs, receives), strict=True))
    misuse = draw(MISUSE)
    if misuse in MISUSES:
        MISUSES[misuse](draw, tables, (rows, space))
    written, of = (space, *(WRONG_REST[misuse](rest) if misuse in WRONG_REST else rest)), drawn
    if misuse == "other dtype":
        of = replace(drawn, dtype="int16" if drawn.dtype != "int16" else "int32")
    operands = {"operand": drawn.operand((rows, *rest)), "output": of.operand(written, alike=of is drawn)}
    dtypes = {name: draw(_TABLE_DTYPES) for name in TABLES} if draw(_UNLIKE) else dict.fromkeys(TABLES, "int32")
    operands |= {name: _spread(drawn, rows, dtypes[name]) for name, rows in tables.items()}
    return drawn.program("ragged_all_to_all", operands, ("y",), {})


def _spread(drawn: Draft, rows: Sequence[Any], dtype: str) -> Operand:
    """Return one operand that gives every rank the row of its position, in int32 where it does not fit ``dtype``.

    What is no integer stays what it is.
    """
    at = {rank: p for group in drawn.rank_groups() for p, rank in enumerate(group)}
    arrays = [np.asarray(rows[at.get(rank, 0) % len(rows)]) for rank in range(drawn.world)]
    found = np.concatenate([array.reshape(-1) for array in arrays])
    whole = found.dtype.kind in "iu"
    fits = whole and bool((found.astype(dtype) == found).all())
    held = np.dtype(dtype if fits else "int32")
    blocks = tuple(from_array(array.astype(held) if whole else array) for array in arrays)
    plain: Layout = "contiguous"
    return Operand(blocks=blocks, layouts=(plain,) * drawn.world)


OP = Op(
    "ragged_all_to_all",
    summary="Slices of different sizes along axis 0 go to other members, who write them where the sender says.",
    domain=programs(),
    shares=tuple(clause for clause in COLLECTIVE if clause.id not in OF_ONE_OPERAND),
    clauses=(
        value(
            "ragged_all_to_all.C1",
            "The result is a copy of `output` with slices written over it. With s table entries for each member, slice "
            "i of a sender is `send_sizes[i]` rows of its operand from row `input_offsets[i]`, written by the member "
            "at position i // s from row `output_offsets[i]` (the sender's) on.",
            "jax.ragged_all_to_all",
        ),
        value(
            "ragged_all_to_all.C2",
            "Rows of the result that no slice is written to have the elements of those rows of `output`.",
            "jax.ragged_all_to_all",
            rows_left,
        ),
        value(
            "ragged_all_to_all.C3",
            "Several slices of one sender for one member are legal, and each is written.",
            "jax.ragged_all_to_all",
            several_slices,
        ),
        value(
            "ragged_all_to_all.C4",
            "Where several slices are written to a row, the last one stays: slices are written in the member order of "
            "their senders, and those of one sender in the order of their numbers.",
            "jax.ragged_all_to_all",
            overlapping,
        ),
        value(
            "ragged_all_to_all.C5",
            "A slice without rows is legal and writes nothing.",
            "jax.ragged_all_to_all",
            empty_slices,
        ),
        rejection(
            "ragged_all_to_all.C6",
            "Offsets and sizes of a dtype that is no integer are rejected.",
            "jax.ragged_all_to_all: _ragged_all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "ragged_all_to_all.C7",
            "Offsets and sizes that do not have exactly one axis with at least one element are rejected.",
            "jax.ragged_all_to_all: _ragged_all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "ragged_all_to_all.C8",
            "Offsets and sizes of unequal length, or of a length that the group size does not divide, are rejected.",
            "ours",
            requirement="should",
        ),
        rejection(
            "ragged_all_to_all.C9",
            "An operand and an output whose rows differ in shape or dtype are rejected, and so is an operand or an "
            "output without axes.",
            "ours",
            requirement="should",
        ),
        rejection(
            "ragged_all_to_all.C10",
            "Receive sizes are rejected where they are not the sizes of the slices that the members "
            "send, in member order.",
            "ours",
            requirement="should",
        ),
        rejection(
            "ragged_all_to_all.C11",
            "A slice with a negative size or offset, or with a row beyond those of the operand or of the output, is "
            "rejected. A slice without rows is legal at their end, and not beyond.",
            "ours",
            requirement="should",
        ),
    ),
    aliases={"jax": ("lax.ragged_all_to_all",)},
    examples=(
        Example(
            "jax.ragged_all_to_all",
            "int32",
            {},
            (
                [[1, 2, 2], [3, 4, 0]],
                [[0, 0, 0, 0], [0, 0, 0, 0]],
                [[0, 1], [0, 1]],
                [[1, 2], [1, 1]],
                [[0, 0], [1, 2]],
                [[1, 1], [2, 1]],
            ),
            [[1, 3, 0, 0], [2, 2, 4, 0]],
        ),
    ),
)
