"""ragged_all_to_all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cases.case import Operand
from conformance.cases.tensor.tensor import to_array
from conformance.judging.subject import Subject
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, Result, rejection, value

TABLES: Final = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")

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


OP = Op(
    "ragged_all_to_all",
    summary="Slices of different sizes along axis 0 go to other members, who write them where the sender says.",
    shares=tuple(clause for clause in COLLECTIVE if clause.id not in OF_ONE_OPERAND),
    clauses=(
        value(
            "ragged_all_to_all.C1",
            "A ragged_all_to_all returns `output` with slices written over it. With s the length of `send_sizes` "
            "divided by the group size, slice i of a sender is `send_sizes[i]` rows of its `operand` from row "
            "`input_offsets[i]`; the member at position i // s writes it from row `output_offsets[i]` (the sender's).",
            "jax.ragged_all_to_all",
        ),
        value(
            "ragged_all_to_all.C2",
            "In a ragged_all_to_all, rows of the result that no slice is written to have the elements of those rows "
            "of the receiver's `output`.",
            "jax.ragged_all_to_all",
            rows_left,
        ),
        value(
            "ragged_all_to_all.C3",
            "Several slices of one sender for one member of a ragged_all_to_all are legal, and each is written.",
            "jax.ragged_all_to_all",
            several_slices,
        ),
        value(
            "ragged_all_to_all.C4",
            "Where several slices of a ragged_all_to_all are written to one row, the last one stays: slices are "
            "written in the member order of their senders, and those of one sender in ascending order of their "
            "numbers.",
            "jax.ragged_all_to_all",
            overlapping,
        ),
        value(
            "ragged_all_to_all.C5",
            "A slice of a ragged_all_to_all without rows writes nothing, and is legal where `ragged_all_to_all.C11` "
            "does not reject its offsets.",
            "jax.ragged_all_to_all",
            empty_slices,
        ),
        rejection(
            "ragged_all_to_all.C6",
            "A ragged_all_to_all is rejected where `input_offsets`, `send_sizes`, `output_offsets` or `recv_sizes` "
            "has a dtype that is no integer.",
            "jax.ragged_all_to_all: _ragged_all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "ragged_all_to_all.C7",
            "A ragged_all_to_all is rejected where `input_offsets`, `send_sizes`, `output_offsets` or `recv_sizes` "
            "does not have exactly one axis, or has no elements.",
            "jax.ragged_all_to_all: _ragged_all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "ragged_all_to_all.C8",
            "A ragged_all_to_all is rejected where `input_offsets`, `send_sizes`, `output_offsets` and `recv_sizes` "
            "differ in length, or the group size does not divide their length.",
            "ours",
            requirement="should",
        ),
        rejection(
            "ragged_all_to_all.C9",
            "A ragged_all_to_all is rejected where the rows of `operand` and `output` differ in shape or dtype, or "
            "where one of the two has no axes.",
            "ours",
            requirement="should",
        ),
        rejection(
            "ragged_all_to_all.C10",
            "A ragged_all_to_all is rejected where the `recv_sizes` of a member are not the sizes of the slices that "
            "are sent to it, in the member order of the senders.",
            "ours",
            requirement="should",
        ),
        rejection(
            "ragged_all_to_all.C11",
            "A ragged_all_to_all is rejected where a slice has a negative size or offset, or a row beyond those of "
            "the sender's `operand` or of the receiver's `output`. A slice without rows has legal offsets up to the "
            "number of these rows, and none above.",
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
    results=(Result("", "output_shape", "that of `output`", ("ragged_all_to_all.C2",)),),
    arguments={
        "operand": ("ragged_all_to_all.C9", "ragged_all_to_all.C11"),
        "output": ("ragged_all_to_all.C2", "ragged_all_to_all.C9"),
        "input_offsets": (
            "ragged_all_to_all.C6",
            "ragged_all_to_all.C7",
            "ragged_all_to_all.C8",
            "ragged_all_to_all.C11",
        ),
        "send_sizes": ("ragged_all_to_all.C5", "ragged_all_to_all.C8"),
        "output_offsets": ("ragged_all_to_all.C1", "ragged_all_to_all.C4", "ragged_all_to_all.C11"),
        "recv_sizes": ("ragged_all_to_all.C10",),
    },
)
