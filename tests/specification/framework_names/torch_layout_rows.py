"""What gloo makes of a tensor with gaps between its elements: most collectives take the memory in the gaps as well."""

from __future__ import annotations

from typing import Any

from tests.specification.framework_names.rows import WORLD, reference, says
from tests.specification.framework_names.torch_rows import X, block, torch_rows

GAPS = "of a tensor that is not contiguous, over gloo"
PIECES = [[7 + p, 70 + p] for p in range(WORLD)]


def every_other(rank: int) -> Any:
    return block(rank, [[row[0], 0, row[1], 0] for row in X])[::2]


def left(*blocks: list[int]) -> list[str]:
    return [f"int32 {each}" for each in blocks]


@torch_rows(
    "distributed.broadcast",
    GAPS,
    ours=reference("broadcast", X, root=1),
    theirs=left([2, 10], [2, 20], [2, 30], [2, 40]),
)
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = every_other(rank)
    dist.broadcast(x, 1)
    return x


@torch_rows(
    "distributed.reduce",
    GAPS,
    ours=reference("reduce", X, op="sum", root=1),
    theirs=["nothing", "int32 [10, 20]", "nothing", "nothing"],
)
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = every_other(rank)
    dist.reduce(x, 1)
    return x if rank == 1 else None


@torch_rows(
    "distributed.all_reduce",
    GAPS,
    ours=reference("all_reduce", X, op="sum"),
    theirs=left([10, 10], [10, 20], [10, 30], [10, 40]),
)
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = every_other(rank)
    dist.all_reduce(x)
    return x


@torch_rows(
    "distributed.scatter",
    GAPS,
    ours=says(*left(*PIECES)),
    theirs=left([7, 10], [8, 20], [9, 30], [10, 40]),
)
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = every_other(rank)
    dist.scatter(x, [block(p, PIECES) for p in range(WORLD)] if rank == 1 else None, 1)
    return x


@torch_rows("distributed.all_gather", GAPS, ours=reference("all_gather", X, axis=0, tiled=False))
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    out = [torch.zeros(2, dtype=torch.int32) for _ in range(WORLD)]
    dist.all_gather(out, every_other(rank))
    return torch.stack(out)
