"""ragged_all_to_all: its tables are data, so they are read and checked on the host before anything is lowered."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.attributes import equal_size, partitioned, takes
from conformance.backends.opencl.graph.node import Collective, Movement
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical

takes("ragged_all_to_all")

TABLES: Final = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")

Tables = Sequence[Sequence[Array]]
"""Input offsets, send sizes, output offsets and receive sizes, each an array a rank."""

Run = tuple[int, int, int | None, int]
"""Rows ``start`` to ``stop`` of an output come from member ``source`` from its row ``first`` on, or stay (``None``)."""


def exchange(
    operand: tuple[Movement, ...], output: tuple[Movement, ...], tables: Tables, groups: Groups, stage: int
) -> Collective:
    """Return the checked collective that writes slices of ``operand`` over ``output``; raise a ``RejectionError``.

    Every rank holds one dtype and shape of each: ``operand`` (N, ...), ``output`` (M, ...), tables (K,) of integers,
    K a multiple of the group size. Slice i goes to member i // (K / size), which writes it at the sender's output
    offset.
    """
    partitioned(groups, len(operand))
    size = equal_size(groups)
    _check_tables(tables, size)
    for sent, written in zip(operand, output, strict=True):
        ours = (sent.node.dtype, sent.view.shape[1:], bool(sent.view.shape))
        theirs = (written.node.dtype, written.view.shape[1:], bool(written.view.shape))
        if ours != theirs or not ours[2]:
            raise no.BlocksDifferError(
                f"rows of operand {sent.node.dtype} {sent.view.shape} and output {written.node.dtype} "
                f"{written.view.shape} must agree"
            )
    runs: dict[int, list[Run]] = {}
    for group in groups:
        _check_slices(group, operand, output, tables)
        for p, rank in enumerate(group):
            runs[rank] = _runs(group, p, output[rank].view.shape[0], tables)
    shapes = tuple(block.view.shape for block in output)
    dtype = operand[0].node.dtype
    return Collective("ragged_all_to_all", {"runs": runs}, groups, operand, dtype, shapes, stage, output)


def _check_tables(tables: Tables, size: int) -> None:
    for name, ranks in zip(TABLES, tables, strict=True):
        for rank, found in enumerate(ranks):
            if kind(logical(found.dtype)) != "integer":
                raise no.SliceTablesError(f"{name} must hold integers, rank {rank} has {found.dtype}")
            if found.ndim != 1 or not found.size:
                raise no.SliceTablesError(f"{name} must have one axis, not empty; rank {rank} has {found.shape}")
    lengths = sorted({len(found) for ranks in tables for found in ranks})
    if len(lengths) > 1 or lengths[0] % size:
        raise no.SliceTablesError(f"offsets and sizes must have one length, a multiple of {size}; got {lengths}")


def _check_slices(
    group: tuple[int, ...], operand: tuple[Movement, ...], output: tuple[Movement, ...], tables: Tables
) -> None:
    starts, sends, ats, receives = tables
    each = len(sends[group[0]]) // len(group)
    for q, sender in enumerate(group):
        for i, count in enumerate(sends[sender].tolist()):
            receiver = group[i // each]
            announced = int(receives[receiver][q * each + i % each])
            if count != announced:
                raise no.SliceTablesError(
                    f"rank {sender} sends {count} rows to rank {receiver}, which expects {announced}"
                )
            start, at = int(starts[sender][i]), int(ats[sender][i])
            rows, space = operand[sender].view.shape[0], output[receiver].view.shape[0]
            if not 0 <= start <= start + count <= rows or not 0 <= at <= at + count <= space:
                raise no.SliceOutOfRangeError(
                    f"slice {i} of rank {sender}: {count} rows from {start} to {at} leave the {rows} rows of the "
                    f"operand or the {space} of the output"
                )


def _runs(group: tuple[int, ...], position: int, rows: int, tables: Tables) -> list[Run]:
    """Return where every row of the output of the member at ``position`` comes from.

    Slices may overlap and are written in sender order. Parts of one kernel run side by side, so the last writer of
    each row is settled here and every row is written once.
    """
    starts, sends, ats, _ = tables
    each = len(sends[group[0]]) // len(group)
    source, first = np.full(rows, -1), np.arange(rows)
    for q, sender in enumerate(group):
        for i in range(position * each, (position + 1) * each):
            at, count, start = int(ats[sender][i]), int(sends[sender][i]), int(starts[sender][i])
            source[at : at + count] = q
            first[at : at + count] = np.arange(start, start + count)
    # A run ends where another source begins, or where the next row is not the source's next.
    ends = np.flatnonzero((np.diff(source) != 0) | (np.diff(first) != 1)) + 1
    bounds = [0, *ends.tolist(), rows] if rows else [0]
    return [(a, b, None if source[a] < 0 else int(source[a]), int(first[a])) for a, b in itertools.pairwise(bounds)]
