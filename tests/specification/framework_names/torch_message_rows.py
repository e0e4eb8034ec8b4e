"""Names of Torch's messages, waits and functional collectives, run over gloo on four ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.cases.graph.promotion import promoted as least_dtype
from tests.specification.framework_names.rows import WORLD, Ours, reference, says
from tests.specification.framework_names.torch_rows import (
    RECEIVES,
    ROOTED,
    ROWS_MOVED,
    SENDS,
    SQUARE,
    UNEVEN,
    X,
    block,
    groups,
    own_group,
    torch_rows,
)


def passed(blocking: bool) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        import torch
        import torch.distributed as dist

        out = torch.zeros(2, dtype=torch.int32)
        send, recv = (dist.send, dist.recv) if blocking else (dist.isend, dist.irecv)
        handle = send(block(rank), rank + 1) if rank % 2 == 0 else recv(out, rank - 1)
        if not blocking:
            handle.wait()
        return out

    return run


MOVED = reference("permute", X, pairs=((0, 1), (2, 3)))
for name, blocking in (("send", True), ("recv", True), ("isend", False), ("irecv", False)):
    torch_rows(f"distributed.{name}", ours=MOVED)(passed(blocking))


@torch_rows(
    "distributed.send",
    "twice to one rank",
    ours=says("int32 [-1, -1]", "int32 [1, 2]", "int32 [-1, -1]", "int32 [-1, -1]"),
)
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    first, second = torch.tensor([-1], dtype=torch.int32), torch.tensor([-1], dtype=torch.int32)
    if rank == 0:
        for number in (1, 2):
            dist.send(torch.tensor([number], dtype=torch.int32), 1)
    elif rank == 1:
        dist.recv(first, 0)
        dist.recv(second, 0)
    return torch.cat((first, second))


@torch_rows("distributed.batch_isend_irecv", ours=reference("permute", X, pairs=((0, 1), (1, 2), (2, 3), (3, 0))))
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    out = torch.zeros(2, dtype=torch.int32)
    ops = [dist.P2POp(dist.isend, block(rank), (rank + 1) % WORLD), dist.P2POp(dist.irecv, out, (rank - 1) % WORLD)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return out


@torch_rows("distributed.Work.wait", ours=reference("all_reduce", X, op="sum"))
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = block(rank)
    dist.all_reduce(x, async_op=True).wait()
    return x


@torch_rows("distributed.Work.wait", "a second time", ours=reference("all_reduce", X, op="sum"))
def _(rank: int) -> Any:
    import torch.distributed as dist

    x = block(rank)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    work.wait()
    return x


@torch_rows(
    "distributed.all_reduce",
    "called outside its group",
    ours=reference("all_reduce", X, op="sum", groups=((0, 2),)),
    theirs=["int32 [4, 40]", "int32 [2, 20]", "int32 [4, 40]", "int32 [4, 40]"],
)
def _(rank: int) -> Any:
    import torch.distributed as dist

    even, _ = groups()
    x = block(rank)
    dist.all_reduce(x, group=even)
    return x


def functional(name: str, *more: Any, group: bool = False, rows: list[Any] = X) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        import torch.distributed as dist
        import torch.distributed._functional_collectives as funcol

        made = getattr(funcol, name)(block(rank, rows), *more, own_group(rank) if group else dist.group.WORLD)
        return funcol.wait_tensor(made)

    return run


def promoted(*dtypes: str) -> Callable[[int], Any]:
    def run(_: int) -> Any:
        import torch

        return str(torch.promote_types(*(getattr(torch, each) for each in dtypes))).removeprefix("torch.")

    return run


torch_rows("promote_types", ours=says(str(least_dtype(("float16", "int32")))))(promoted("float16", "int32"))
torch_rows("promote_types", "of int64 and uint64", ours=says("rejected: no dtype is above both"))(
    promoted("int64", "uint64")
)

FUNCTIONAL = "_functional_collectives"
torch_rows(f"{FUNCTIONAL}.all_reduce", ours=reference("all_reduce", X, op="sum"))(functional("all_reduce", "sum"))
torch_rows(f"{FUNCTIONAL}.wait_tensor", ours=reference("all_reduce", X, op="sum"))(functional("all_reduce", "sum"))
torch_rows(f"{FUNCTIONAL}.broadcast", ours=ROOTED["broadcast"])(functional("broadcast", 1, group=True))
for name in ("all_gather_tensor", "all_gather_single"):
    torch_rows(f"{FUNCTIONAL}.{name}", ours=reference("all_gather", X, axis=0, tiled=True))(functional(name, 0))
for name in ("reduce_scatter_tensor", "reduce_scatter_single"):
    torch_rows(f"{FUNCTIONAL}.{name}", ours=reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True))(
        functional(name, "sum", 0, rows=SQUARE)
    )
torch_rows(f"{FUNCTIONAL}.permute_tensor", ours=reference("permute", X, pairs=((0, 1), (1, 2), (2, 3), (3, 0))))(
    functional("permute_tensor", [1, 2, 3, 0])
)


@torch_rows(f"{FUNCTIONAL}.all_to_all_single", ours=ROWS_MOVED)
def _(rank: int) -> Any:
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    made = funcol.all_to_all_single(block(rank, UNEVEN), RECEIVES[rank], SENDS[rank], dist.group.WORLD)
    return funcol.wait_tensor(made)


def received(shape: tuple[int, ...], dtype: str) -> Callable[[int], Any]:
    """Return what rank 1 has where rank 0 sends it two numbers of float32."""

    def run(rank: int) -> Any:
        import torch
        import torch.distributed as dist

        if rank == 0:
            dist.send(torch.tensor([1.0, 2.0]), 1)
        if rank != 1:
            return None
        made = torch.zeros(shape, dtype=getattr(torch, dtype))
        dist.recv(made, 0)
        return made

    return run


for aspect, shape, dtype, seen in (
    ("of another dtype than was sent", (2,), "int32", "int32 [1065353216, 1073741824]"),
    ("of another shape than was sent", (1, 2), "float32", "float32 [[1.0, 2.0]]"),
):
    torch_rows(
        "distributed.recv",
        aspect,
        ours=says("rejected by recv.C3"),
        theirs=["nothing", seen, "nothing", "nothing"],
    )(received(shape, dtype))


def operator(name: str, *more: Any, rows: list[Any] = X, group: bool = False) -> Callable[[int], Any]:
    """Return what calls an operator that Inductor lowers, and gives the result and the operand as it is afterwards."""

    def run(rank: int) -> Any:
        import torch
        import torch.distributed as dist

        ops, mine = torch.ops._c10d_functional, block(rank, rows)
        members = own_group(rank) if group else dist.group.WORLD
        return [ops.wait_tensor(getattr(ops, name)(mine, *more, members.group_name)), mine]

    return run


def beside(ours: Ours, operands: Ours) -> Ours:
    return lambda: [f"{result}; {operand}" for result, operand in zip(ours(), operands(), strict=True)]


def unchanged(rows: list[Any]) -> Ours:
    return reference("permute", rows, pairs=tuple((rank, rank) for rank in range(4)))


SUM, SCATTERED = reference("all_reduce", X, op="sum"), reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True)
for name, rows, ours, given in (
    ("all_reduce", X, SUM, ("sum",)),
    ("wait_tensor", X, SUM, ("sum",)),
    ("all_gather_into_tensor", X, reference("all_gather", X, axis=0, tiled=True), (4,)),
    ("reduce_scatter_tensor", SQUARE, SCATTERED, ("sum", 4)),
):
    called = operator("all_reduce" if name == "wait_tensor" else name, *given, rows=rows)
    torch_rows(f"_c10d_functional.{name}", ours=beside(ours, unchanged(rows)))(called)
torch_rows("_c10d_functional.all_reduce_", ours=beside(SUM, SUM))(operator("all_reduce_", "sum"))
torch_rows("_c10d_functional.broadcast", ours=beside(ROOTED["broadcast"], unchanged(X)))(
    operator("broadcast", 1, group=True)
)


NOT_CONTIGUOUS = "of a tensor that is not contiguous"
EVERY_OTHER = [[row[0], 0, row[1], 0] for row in X]


@torch_rows("distributed.send", NOT_CONTIGUOUS, ours=says(*("int32 [1, 10]",) * 4), theirs="raises RuntimeError")
def _(rank: int) -> Any:
    import torch.distributed as dist

    dist.send(block(0, EVERY_OTHER)[::2], (rank + 1) % WORLD)


@torch_rows(
    "distributed.all_to_all_single",
    NOT_CONTIGUOUS,
    ours=reference("all_to_all", SQUARE, split_axis=0, concat_axis=0, tiled=True),
    theirs="raises ValueError",
)
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist

    spread = [[each for number in row for each in (number, 0)] for row in SQUARE]
    dist.all_to_all_single(torch.empty(WORLD, dtype=torch.int32), block(rank, spread)[::2])


@torch_rows(
    "distributed.send",
    "to the own rank",
    ours=reference("permute", X, pairs=((0, 0), (1, 1), (2, 2), (3, 3))),
    theirs="raises ValueError",
)
def _(rank: int) -> Any:
    import torch.distributed as dist

    dist.send(block(rank), rank)
