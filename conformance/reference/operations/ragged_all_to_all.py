"""ragged_all_to_all: slices of different sizes along the leading axis, exchanged between the members."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.groups import equal_sizes, partition
from conformance.reference.rejection import Rejected


@operation("exchange", over=1)
def ragged_all_to_all(
    operand: list[Array],
    output: list[Array],
    input_offsets: list[Array],
    send_sizes: list[Array],
    output_offsets: list[Array],
    recv_sizes: list[Array],
    *,
    groups: Groups,
) -> list[Array]:
    """Return each rank's ``output`` with the received slices written over it, in sender order.

    ``operand`` has shape (N, ...) and ``output`` (M, ...). The other four have shape (K,), K a multiple of
    the group size: slice i goes to member i // (K / size). ``output_offsets`` of the sender say where the
    receiver writes.
    """
    size = equal_sizes(partition(groups, len(operand)))
    tables = (input_offsets, send_sizes, output_offsets, recv_sizes)
    _check_tables([table[rank] for table in tables for rank in range(len(operand))], size)
    _check_rows(operand, output)
    out = [block.copy() for block in output]
    for group in groups:
        each = len(send_sizes[group[0]]) // size
        _check_slices(group, each, operand, output, *tables)
        for p, receiver in enumerate(group):
            for sender in group:
                for i in range(p * each, (p + 1) * each):
                    start, count = int(input_offsets[sender][i]), int(send_sizes[sender][i])
                    at = int(output_offsets[sender][i])
                    out[receiver][at : at + count] = operand[sender][start : start + count]
    return out


def _check_tables(tables: list[Array], size: int) -> None:
    for table in tables:
        if kind(logical(table.dtype)) != "integer":
            raise Rejected("ragged_all_to_all.C6", f"offsets and sizes are integers, got {table.dtype}")
        if table.ndim != 1 or len(table) < 1:
            raise Rejected("ragged_all_to_all.C7", f"offsets and sizes have one axis, not empty; got {table.shape}")
    lengths = {len(table) for table in tables}
    if len(lengths) > 1 or lengths.pop() % size:
        raise Rejected("ragged_all_to_all.C8", f"offsets and sizes have one length, a multiple of {size}")


def _check_rows(operand: list[Array], output: list[Array]) -> None:
    for sent, written in zip(operand, output, strict=True):
        if sent.ndim < 1 or written.ndim < 1 or sent.shape[1:] != written.shape[1:] or sent.dtype != written.dtype:
            raise Rejected(
                "ragged_all_to_all.C9",
                f"rows of operand {sent.shape} {sent.dtype} and output {written.shape} {written.dtype} must agree",
            )


def _check_slices(
    group: tuple[int, ...],
    each: int,
    operand: list[Array],
    output: list[Array],
    input_offsets: list[Array],
    send_sizes: list[Array],
    output_offsets: list[Array],
    recv_sizes: list[Array],
) -> None:
    for q, sender in enumerate(group):
        for i, count in enumerate(send_sizes[sender]):
            receiver = group[i // each]
            announced = recv_sizes[receiver][q * each + i % each]
            if count != announced:
                raise Rejected(
                    "ragged_all_to_all.C10",
                    f"rank {sender} sends {count} rows to rank {receiver}, which expects {announced}",
                )
            start, at = int(input_offsets[sender][i]), int(output_offsets[sender][i])
            inside = 0 <= start <= start + int(count) <= len(operand[sender])
            if not inside or not 0 <= at <= at + int(count) <= len(output[receiver]):
                raise Rejected(
                    "ragged_all_to_all.C11",
                    f"slice {i} of rank {sender} reads or writes beyond {len(operand[sender])} or "
                    f"{len(output[receiver])} rows",
                )
