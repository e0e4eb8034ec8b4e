"""Gradients through names of Torch, run over gloo on four ranks, beside the reference's collective of cotangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.specification.framework_names.rows import WORLD, Ours, reference, says
from tests.specification.framework_names.torch_rows import torch_rows

OPERAND = [1.0, 2.0, 3.0, 4.0]
"""What every rank holds; its loss is the sum of its results, weighted 1, 2, 3, ... times its rank + 1."""


def weights(count: int) -> list[list[float]]:
    return [[float((rank + 1) * (place + 1)) for place in range(count)] for rank in range(WORLD)]


TRANSPOSES: dict[str, Ours] = {
    "all_reduce": reference("all_reduce", weights(4), dtype="float32", op="sum"),
    "all_gather": reference("reduce_scatter", weights(16), dtype="float32", op="sum", axis=0, tiled=True),
    "reduce_scatter": reference("all_gather", weights(1), dtype="float32", axis=0, tiled=True),
    "all_to_all_single": reference("all_to_all", weights(4), dtype="float32", split_axis=0, concat_axis=0, tiled=True),
    "broadcast": says(*(f"float32 {[10.0, 20.0, 30.0, 40.0] if rank == 1 else [0.0] * 4}" for rank in range(WORLD))),
}


def gradient(of: Callable[[Any], Any]) -> Callable[[int], Any]:
    """Return what gives the gradient of a rank's loss where ``of`` makes its results of the operand."""

    def run(rank: int) -> Any:
        import torch

        x = torch.tensor(OPERAND, requires_grad=True)
        made = of(x * 1)
        y = torch.cat(list(made)) if isinstance(made, list | tuple) else made
        if not y.requires_grad:
            return y.requires_grad
        (y * torch.tensor(weights(y.numel())[rank])).sum().backward()
        return x.grad

    return run


def nn(name: str) -> Callable[[Any], Any]:
    def of(x: Any) -> Any:
        import torch
        from torch.distributed.nn import functional

        given = {
            "reduce_scatter": lambda: (torch.zeros(1), list(x.chunk(WORLD))),
            "all_to_all_single": lambda: (torch.zeros(4), x),
            "broadcast": lambda: (x, 1),
        }
        return getattr(functional, name)(*given.get(name, lambda: (x,))())

    return of


def funcol(name: str, *more: Any) -> Callable[[Any], Any]:
    def of(x: Any) -> Any:
        import torch.distributed as dist
        import torch.distributed._functional_collectives as functional

        return getattr(functional, name)(x, *more, dist.group.WORLD)

    return of


for op, ours in TRANSPOSES.items():
    torch_rows(f"distributed.nn.functional.{op}", "gradient", ours=ours)(gradient(nn(op)))

MORE: dict[str, tuple[Any, ...]] = {
    "all_reduce": ("sum",), "all_gather": (0,), "reduce_scatter": ("sum", 0), "all_to_all_single": (None, None)
}  # fmt: skip
for op, more in MORE.items():
    forms = {"all_reduce": ("",), "all_to_all_single": ("", "_autograd")}
    for form in forms.get(op, ("_tensor", "_single", "_tensor_autograd")):
        torch_rows(f"_functional_collectives.{op}{form}", "gradient", ours=TRANSPOSES[op])(
            gradient(funcol(f"{op}{form}", *more))
        )


@torch_rows(
    "distributed.all_reduce",
    "gradient",
    ours=TRANSPOSES["all_reduce"],
    theirs=[f"float32 {row}" for row in weights(4)],
)
@gradient
def _(x: Any) -> Any:
    import torch.distributed as dist

    dist.all_reduce(x)
    return x


@torch_rows("distributed.all_gather", "gradient", ours=TRANSPOSES["all_gather"], theirs="bool False")
@gradient
def _(x: Any) -> Any:
    import torch
    import torch.distributed as dist

    made = [torch.zeros(4) for _ in range(WORLD)]
    dist.all_gather(made, x)
    return made


@torch_rows("distributed.reduce_scatter", "gradient", ours=TRANSPOSES["reduce_scatter"], theirs="bool False")
@gradient
def _(x: Any) -> Any:
    import torch
    import torch.distributed as dist

    made = torch.zeros(1)
    dist.reduce_scatter(made, [each.detach() for each in x.chunk(WORLD)])
    return made


UNDEFINED = says("rejected: no transpose is defined")


def nn_maximum(x: Any) -> Any:
    import torch.distributed as dist
    from torch.distributed.nn import functional

    return functional.all_reduce(x, op=dist.ReduceOp.MAX)


torch_rows(
    "distributed.nn.functional.all_reduce",
    "gradient of MAX",
    ours=UNDEFINED,
    theirs="float32 [4.0, 8.0, 12.0, 16.0]",
)(gradient(nn_maximum))
torch_rows("_functional_collectives.all_reduce", "gradient of max", ours=UNDEFINED)(
    gradient(funcol("all_reduce", "max"))
)
