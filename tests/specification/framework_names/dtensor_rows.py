"""Names of Torch's DTensor, run over gloo on four ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.specification.framework_names.rows import ANYTHING_ELSE, WORLD, Rows, reference, says

dtensor_rows = Rows("dtensor")

_MESH: list[Any] = []


def mesh() -> Any:
    from torch.distributed.device_mesh import init_device_mesh

    if not _MESH:
        _MESH.append(init_device_mesh("cpu", (WORLD,)))
    return _MESH[0]


def placed(rows: int, *placement: Any) -> Any:
    """Return the numbers 0 to ``rows`` - 1 as a tensor of one axis with a placement."""
    import torch
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(torch.arange(rows, dtype=torch.int32), mesh(), list(placement))


def partial(rank: int) -> Any:
    """Return the sum of 1, 2, 3 and 4 as contributions of the ranks."""
    import torch
    from torch.distributed.tensor import DTensor, Partial

    return DTensor.from_local(torch.tensor([float(rank + 1)]), mesh(), [Partial()])


@dtensor_rows("Shard", ours=says("int32 [0, 1]", "int32 [2, 3]", "int32 [4]", "int32 []"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Shard

    return placed(5, Shard(0)).to_local()


@dtensor_rows("Replicate", ours=says("int32 [0, 1, 2]"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Replicate

    return placed(3, Replicate()).to_local()


@dtensor_rows("Partial", ours=says("float32 [10.0]"))
def _(rank: int) -> Any:
    return partial(rank).full_tensor()


@dtensor_rows("Partial", "plus a number", ours=says("int64 20"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Shard

    return (placed(5, Shard(0)).sum() + 10).full_tensor()


@dtensor_rows("Partial", "times a number", ours=says("float32 [20.0]"))
def _(rank: int) -> Any:
    return (partial(rank) * 2).full_tensor()


def moved(name: str) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        from torch.distributed.tensor import Replicate, Shard

        x = placed(5, Shard(0))
        if name == "redistribute":
            return x.redistribute(mesh(), [Replicate()]).to_local()
        return x.full_tensor()

    return run


for each in ("redistribute", "full_tensor"):
    dtensor_rows(f"DTensor.{each}", ours=says("int32 [0, 1, 2, 3, 4]"))(moved(each))


@dtensor_rows("distribute_tensor", ours=says("int32 [0, 2, 4, 6, 8]"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Shard

    x = placed(5, Shard(0))
    return (x + x).full_tensor()


@dtensor_rows("DTensor.from_local", ours=says("int32 [0, 1, 2, 3]"))
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import DTensor, Shard

    return DTensor.from_local(torch.tensor([rank], dtype=torch.int32), mesh(), [Shard(0)]).full_tensor()


@dtensor_rows("DTensor.to_local", ours=says("int32 [0]", "int32 [1]", "int32 [2]", "int32 [3]"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Shard

    return placed(4, Shard(0)).to_local()


@dtensor_rows("DTensor.view", "of unequal parts", ours=says("int64 [0, 2, 4, 6, 8]"), theirs="raises RuntimeError")
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import Shard, distribute_tensor

    x = distribute_tensor(torch.arange(10).reshape(5, 2), mesh(), [Shard(0)])
    return x.view(-1).full_tensor()[::2]


@dtensor_rows("DTensor.sum", ours=says("int64 10"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Shard

    return placed(5, Shard(0)).sum().full_tensor()


@dtensor_rows(
    "shard_dim_alltoall", ours=says("int64 [[0], [4]]", "int64 [[1], [5]]", "int64 [[2], [6]]", "int64 [[3], [7]]")
)
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import Shard, distribute_tensor

    x = distribute_tensor(torch.arange(8).reshape(2, 4), mesh(), [Shard(0)])
    return x.redistribute(mesh(), [Shard(1)]).to_local()


@dtensor_rows("DTensor.mean", "of unequal parts", ours=says("float32 2.0"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Shard

    return placed(5, Shard(0)).to(_float()).mean().full_tensor()


def _float() -> Any:
    import torch

    return torch.float32


@dtensor_rows("DTensor.redistribute", "to Partial", ours=says("int32 [0, 1, 2, 3]"), theirs="raises RuntimeError")
def _(rank: int) -> Any:
    from torch.distributed.tensor import Partial, Shard

    return placed(4, Shard(0)).redistribute(mesh(), [Partial()]).full_tensor()


@dtensor_rows(
    "DTensor.redistribute", "from Partial to Shard", ours=says("int64 [6]", "int64 [10]", "int64 [14]", "int64 [18]")
)
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import DTensor, Partial, Shard

    x = DTensor.from_local(torch.arange(4) + rank * torch.tensor([1, 1, 1, 1]), mesh(), [Partial()])
    return x.redistribute(mesh(), [Shard(0)]).to_local()


@dtensor_rows("DTensor.redistribute", "from Partial to Replicate", ours=says("float32 [10.0]"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Replicate

    return partial(rank).redistribute(mesh(), [Replicate()]).to_local()


@dtensor_rows(
    "DTensor.from_local",
    "of parts that chunk does not give",
    ours=says("int32 [0, 1, 2, 3, 4]"),
    theirs=ANYTHING_ELSE,
)
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import DTensor, Shard

    first, extent = (0, 1, 3, 4)[rank], (1, 2, 1, 1)[rank]
    part = torch.arange(first, first + extent, dtype=torch.int32)
    return DTensor.from_local(part, mesh(), [Shard(0)], shape=torch.Size([5]), stride=(1,)).full_tensor()


@dtensor_rows(
    "DTensor.redistribute",
    "from one reduction of Partial to another",
    ours=says("float32 [10.0]"),
    theirs="raises RuntimeError",
)
def _(rank: int) -> Any:
    from torch.distributed.tensor import Partial

    return partial(rank).redistribute(mesh(), [Partial("avg")]).full_tensor()


@dtensor_rows("distribute_tensor", "to Partial", ours=says("float32 [0.5, 1.0]; float32 [2.0, 4.0]"))
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import Partial, distribute_tensor

    x = distribute_tensor(torch.tensor([2.0, 4.0]), mesh(), [Partial()])
    return x.to_local(), x.full_tensor()


@dtensor_rows("DTensor.from_local", "gradient of Partial", ours=says("float32 [3.0]"))
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import DTensor, Partial

    x = torch.tensor([float(rank + 1)], requires_grad=True)
    (DTensor.from_local(x, mesh(), [Partial()]).full_tensor() * 3).sum().backward()
    return x.grad


@dtensor_rows("DTensor.to_local", "gradient of Partial", ours=says("float32 [3.0]"))
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import DTensor, Partial

    x = torch.tensor([float(rank + 1)], requires_grad=True)
    local = DTensor.from_local(x, mesh(), [Partial()]).to_local()
    (DTensor.from_local(local, mesh(), [Partial()]).full_tensor() * 3).sum().backward()
    return x.grad


@dtensor_rows(
    "Shard",
    "two mesh axes on one tensor axis, [Shard(0), Shard(0)]",
    ours=says("int32 [0, 1]", "int32 [2]", "int32 [3]", "int32 [4]"),
)
def _(rank: int) -> Any:
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    square = init_device_mesh("cpu", (2, 2))
    return distribute_tensor(torch.arange(5, dtype=torch.int32), square, [Shard(0), Shard(0)]).to_local()


def halves(rank: int) -> Any:
    """Return the sums of 0.5, 1.5, 2.5 and 3.5, and of 0, -1, -2 and -3, as contributions of the ranks."""
    import torch
    from torch.distributed.tensor import DTensor, Partial

    return DTensor.from_local(torch.tensor([rank + 0.5, -float(rank)]), mesh(), [Partial()])


CONSUMERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "max": (lambda x: x.max(), "float32 8.0"),
    "a comparison": (lambda x: x > 5, "bool [True, False]"),
    "conversion to int32": (lambda x: x.int(), "int32 [8, -6]"),
    "a product of two": (lambda x: x * x, "float32 [64.0, 36.0]"),
    "relu": (lambda x: x.relu(), "float32 [8.0, 0.0]"),
}
"""Operations that are not linear, and what they give of the folded contributions."""

for name, (consume, value) in CONSUMERS.items():
    dtensor_rows("Partial", name, ours=says(value))(lambda rank, consume=consume: consume(halves(rank)).full_tensor())


@dtensor_rows("Partial", 'Partial("max") plus a number', ours=says("float32 [5.0]"))
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import DTensor, Partial

    return (DTensor.from_local(torch.tensor([float(rank + 1)]), mesh(), [Partial("max")]) + 1).full_tensor()


@dtensor_rows(
    "DTensor.item", "of Partial", ours=says("float 10.0"), theirs=[f"float {rank}.0" for rank in (1, 2, 3, 4)]
)
def _(rank: int) -> Any:
    return partial(rank).item()


def copied(target: Any, value: Any) -> Any:
    """Return the placement of a target of zeros that a value was copied into, and its elements."""
    import torch
    from torch.distributed.tensor import distribute_tensor

    made = distribute_tensor(torch.zeros(4), mesh(), [target])
    made.copy_(value)
    return str(made.placements[0] == target), made.full_tensor()


@dtensor_rows("DTensor.copy_", "of Shard into Replicate", ours=says("True; float32 [0.0, 1.0, 2.0, 3.0]"))
def _(rank: int) -> Any:
    from torch.distributed.tensor import Replicate, Shard

    return copied(Replicate(), placed(4, Shard(0)).float())


@dtensor_rows("DTensor.copy_", "of Partial into Shard", ours=says("True; float32 [0.0, 10.0, 20.0, 30.0]"))
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import DTensor, Partial, Shard

    return copied(Shard(0), DTensor.from_local(torch.arange(4.0) * (rank + 1), mesh(), [Partial()]))


@dtensor_rows(
    "DeviceMesh",
    "a slice along one axis",
    ours=reference("all_reduce", [[1], [2], [3], [4]], op="sum", mesh={"dp": 2, "tp": 2}, over=("tp",)),
)
def _(rank: int) -> Any:
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    x = torch.tensor([rank + 1], dtype=torch.int32)
    dist.all_reduce(x, group=init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))["tp"].get_group())
    return x


@dtensor_rows("distribute_tensor", "Shard of a tensor without axes", ours=says("rejected by sharded.C7"))
def _(rank: int) -> Any:
    import torch
    from torch.distributed.tensor import Shard, distribute_tensor

    return distribute_tensor(torch.tensor(3), mesh(), [Shard(0)]).to_local()


@dtensor_rows(
    "DTensor.max",
    "of an empty part",
    ours=says("int32 4"),
    theirs=["int32 1", "int32 3", "int32 4", "raises RuntimeError"],
)
def _(rank: int) -> Any:
    from torch.distributed.tensor import Shard

    return placed(5, Shard(0)).max().to_local()
