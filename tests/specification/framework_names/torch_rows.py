"""Names of Torch's c10d and functional collectives, run over gloo on four ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.specification.framework_names.rows import WORLD, Rows, reference, says

torch_rows = Rows("torch")

X = [[1, 10], [2, 20], [3, 30], [4, 40]]
FLOATS = [[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [9.0, 90.0]]
BOOLS = [[True, False], [True, False], [False, False], [True, False]]
SQUARE = [[10 * rank + column for column in range(WORLD)] for rank in range(WORLD)]
EVEN, ODD = (0, 2), (1, 3)


def block(rank: int, rows: list[Any] = X, dtype: str = "int32") -> Any:
    import torch

    return torch.tensor(rows[rank], dtype=getattr(torch, dtype))


def groups() -> tuple[Any, Any]:
    """Return the groups of the even and of the odd ranks, made once, as every rank has to."""
    import torch.distributed as dist

    if not _GROUPS:
        _GROUPS.extend((dist.new_group([0, 2]), dist.new_group([1, 3]), dist.new_group([3, 1])))
    return _GROUPS[0], _GROUPS[1]


_GROUPS: list[Any] = []


def own_group(rank: int) -> Any:
    return groups()[rank % 2]


def reduced(op: str, rank: int, rows: list[Any] = X, dtype: str = "int32") -> Any:
    import torch.distributed as dist

    x = block(rank, rows, dtype)
    dist.all_reduce(x, getattr(dist.ReduceOp, op))
    return x


def reduction(torch_op: str, our_op: str, rows: list[Any] = X, dtype: str = "int32") -> None:
    ours = reference("all_reduce", rows, dtype=dtype, op=our_op)
    torch_rows(f"ReduceOp.{torch_op}", ours=ours)(lambda rank: reduced(torch_op, rank, rows, dtype))


reduction("SUM", "sum")
reduction("PRODUCT", "product")
reduction("MAX", "max")
reduction("MIN", "min")
reduction("BAND", "and")
reduction("BOR", "or")
reduction("BXOR", "xor")
reduction("AVG", "mean", FLOATS, "float32")

torch_rows(
    "ReduceOp.AVG",
    "of integers",
    ours=reference("all_reduce", X, op="mean"),
    theirs="raises RuntimeError",
)(lambda rank: reduced("AVG", rank))

torch_rows(
    "ReduceOp.SUM", "of bools", ours=reference("all_reduce", BOOLS, dtype="bool", op="sum"), theirs="bool [True, False]"
)(lambda rank: reduced("SUM", rank, BOOLS, "bool"))


def premultiplied(rank: int) -> Any:
    import torch.distributed as dist

    x = block(rank, FLOATS, "float32")
    dist.all_reduce(x, dist._make_nccl_premul_sum(0.5))
    return x


torch_rows(
    "ReduceOp.PREMUL_SUM",
    "over gloo",
    ours=reference("all_reduce", FLOATS, dtype="float32", op="premul_sum", factor=0.5),
    theirs="raises RuntimeError",
)(premultiplied)


NAN = [[1.0], [float("nan")], [3.0], [2.0]]
torch_rows(
    "ReduceOp.MAX",
    "of NaN over gloo",
    ours=reference("all_reduce", NAN, dtype="float32", op="max"),
    theirs="float32 [1.0]",
)(lambda rank: reduced("MAX", rank, NAN, "float32"))


@torch_rows("distributed.all_reduce", ours=reference("all_reduce", X, op="sum", groups=(EVEN, ODD)))
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = block(rank)
    dist.all_reduce(x, group=own_group(rank))
    return x


@torch_rows("distributed.all_reduce_coalesced", ours=reference("all_reduce", X, op="sum"))
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = block(rank)
    dist.all_reduce_coalesced([x])
    return x


@torch_rows("distributed.all_gather", ours=reference("all_gather", X, axis=0, tiled=False))
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    parts = [torch.empty(2, dtype=torch.int32) for _ in range(WORLD)]
    dist.all_gather(parts, block(rank))
    return torch.stack(parts)


def gathered(function: str, shape: tuple[int, ...]) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        import torch
        import torch.distributed as dist

        out = torch.empty(shape, dtype=torch.int32)
        getattr(dist, function)(out, block(rank))
        return out

    return run


for name in ("all_gather_into_tensor", "all_gather_single"):
    torch_rows(f"distributed.{name}", ours=reference("all_gather", X, axis=0, tiled=True))(gathered(name, (2 * WORLD,)))

torch_rows(
    "distributed.all_gather_into_tensor",
    "into an output with an axis of members",
    ours=reference("all_gather", X, axis=0, tiled=False),
    theirs="raises RuntimeError",
)(gathered("all_gather_into_tensor", (WORLD, 2)))


@torch_rows("distributed.all_gather_coalesced", ours=reference("all_gather", X, axis=0, tiled=False))
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    parts = [[torch.empty(2, dtype=torch.int32)] for _ in range(WORLD)]
    dist.all_gather_coalesced(parts, [block(rank)])
    return torch.stack([part[0] for part in parts])


@torch_rows("distributed.reduce_scatter", ours=reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True))
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    out = torch.empty(1, dtype=torch.int32)
    dist.reduce_scatter(out, list(block(rank, SQUARE).chunk(WORLD)))
    return out


@torch_rows(
    "distributed.reduce_scatter",
    "of parts of unequal sizes",
    ours=reference("reduce_scatter", [[rank] * 5 for rank in range(WORLD)], op="sum", axis=0, tiled=True),
    theirs=["int32 [6, 6]", "int32 [6]", "int32 [6]", "int32 [6]"],
)
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    out = torch.empty(2 if rank == 0 else 1, dtype=torch.int32)
    dist.reduce_scatter(out, list(torch.full((5,), rank, dtype=torch.int32).split([2, 1, 1, 1])))
    return out


def scattered(function: str) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        import torch
        import torch.distributed as dist

        out = torch.empty(1, dtype=torch.int32)
        getattr(dist, function)(out, block(rank, SQUARE))
        return out

    return run


for name in ("reduce_scatter_tensor", "reduce_scatter_single"):
    torch_rows(f"distributed.{name}", ours=reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True))(
        scattered(name)
    )


@torch_rows("distributed.all_to_all", ours=reference("all_to_all", SQUARE, split_axis=0, concat_axis=0, tiled=True))
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    outs = [torch.empty(1, dtype=torch.int32) for _ in range(WORLD)]
    dist.all_to_all(outs, list(block(rank, SQUARE).chunk(WORLD)))
    return torch.cat(outs)


@torch_rows(
    "distributed.all_to_all_single", ours=reference("all_to_all", SQUARE, split_axis=0, concat_axis=0, tiled=True)
)
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    out = torch.empty(WORLD, dtype=torch.int32)
    dist.all_to_all_single(out, block(rank, SQUARE))
    return out


SENDS = [[1, 2, 0, 1], [0, 1, 1, 1], [2, 0, 0, 0], [1, 1, 1, 1]]
RECEIVES = [[SENDS[source][rank] for source in range(WORLD)] for rank in range(WORLD)]
UNEVEN = [list(range(10 * rank, 10 * rank + sum(SENDS[rank]))) for rank in range(WORLD)]
ROWS_MOVED = reference(
    "all_to_all_uneven", UNEVEN, sends=tuple(map(tuple, SENDS)), receives=tuple(map(tuple, RECEIVES))
)


@torch_rows("distributed.all_to_all_single", "with split sizes", ours=ROWS_MOVED)
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    out = torch.empty(sum(RECEIVES[rank]), dtype=torch.int32)
    dist.all_to_all_single(out, block(rank, UNEVEN), RECEIVES[rank], SENDS[rank])
    return out


def rooted(function: str, world_rank: int | None, position: int | None) -> Callable[[int], Any]:
    """Return a call with a root by its rank in the world, or by its position in the group of the even or odd ranks."""

    def run(rank: int) -> Any:
        import torch
        import torch.distributed as dist

        side = "src" if function in ("broadcast", "scatter") else "dst"
        group = own_group(rank)
        at = {side: world_rank} if position is None else {f"group_{side}": position}
        root = world_rank if position is None else (EVEN, ODD)[rank % 2][position]
        x, rooted_here = block(rank), rank == root
        if function == "broadcast":
            dist.broadcast(x, group=group, **at)
            return x
        if function == "reduce":
            dist.reduce(x, group=group, **at)
            return x if rooted_here else None
        parts = [torch.empty(2, dtype=torch.int32) for _ in range(2)]
        if function == "gather":
            dist.gather(x, parts if rooted_here else None, group=group, **at)
            return torch.stack(parts) if rooted_here else None
        given = list(block(rank, SQUARE).reshape(2, 2).unbind()) if rooted_here else None
        out = torch.empty(2, dtype=torch.int32)
        dist.scatter(out, given, group=group, **at)
        return out

    return run


ROOTED = {
    "broadcast": reference("broadcast", X, root=1, groups=(EVEN, ODD)),
    "reduce": reference("reduce", X, op="sum", root=1, groups=(EVEN, ODD)),
    "gather": reference("gather", X, root=1, axis=0, tiled=False, groups=(EVEN, ODD)),
    "scatter": reference(
        "scatter", [[row[:2], row[2:]] for row in SQUARE], root=1, axis=0, tiled=False, groups=(EVEN, ODD)
    ),
}
WORLD_RANKS = {
    "broadcast": ["int32 [1, 10]", "int32 [2, 20]", "int32 [1, 10]", "int32 [2, 20]"],
    "reduce": ["int32 [4, 40]", "int32 [6, 60]", "nothing", "nothing"],
    "gather": ["int32 [[1, 10], [3, 30]]", "int32 [[2, 20], [4, 40]]", "nothing", "nothing"],
    "scatter": ["int32 [0, 1]", "int32 [10, 11]", "int32 [2, 3]", "int32 [12, 13]"],
}
for name, ours in ROOTED.items():
    side = "src" if name in ("broadcast", "scatter") else "dst"
    torch_rows(f"distributed.{name}", f"group_{side}", ours=ours)(rooted(name, None, 1))
    torch_rows(f"distributed.{name}", side, ours=ours, theirs=WORLD_RANKS[name])(
        lambda rank, name=name: rooted(name, rank % 2, None)(rank)
    )


@torch_rows(
    "distributed.new_group",
    ours=reference("all_gather", X, axis=0, tiled=False, groups=((0, 2), (3, 1))),
    theirs=[
        "int32 [[1, 10], [3, 30]]",
        "int32 [[2, 20], [4, 40]]",
        "int32 [[1, 10], [3, 30]]",
        "int32 [[2, 20], [4, 40]]",
    ],
)
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    groups()
    parts = [torch.empty(2, dtype=torch.int32) for _ in range(2)]
    dist.all_gather(parts, block(rank), group=_GROUPS[2] if rank % 2 else _GROUPS[0])
    return torch.stack(parts)


@torch_rows("distributed.get_rank", ours=says("int 0", "int 0", "int 1", "int 1"))
def _(rank: int) -> Any:
    import torch.distributed as dist

    return dist.get_rank(own_group(rank))


@torch_rows("distributed.get_world_size", ours=says("int 2"))
def _(rank: int) -> Any:
    import torch.distributed as dist

    return dist.get_world_size(own_group(rank))


@torch_rows("distributed.barrier", ours=says("nothing"))
def _(rank: int) -> Any:
    import torch.distributed as dist

    return dist.barrier()


@torch_rows(
    "distributed.reduce",
    "the tensor on other ranks",
    ours=says("int32 [1, 10]", "int32 [10, 100]", "int32 [3, 30]", "int32 [4, 40]"),
    theirs=["int32 [10, 100]", "int32 [10, 100]", "int32 [7, 70]", "int32 [4, 40]"],
)
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = block(rank)
    dist.reduce(x, 1)
    return x
