"""reduce_scatter_tensor_inplace into an output of another shape and of another dtype, on one rank.

It ends with 1 while the outputs are filled and with 0 when both are refused.
"""

import sys

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
wrong = False
for out, given in (
    (torch.zeros(1, 2), torch.tensor([5.0])),
    (torch.zeros(2), torch.tensor([True, True])),
):
    try:
        functional.reduce_scatter_tensor_inplace(out, given, "sum", dist.group.WORLD, scatter_dim=-1)
        told, wrong = str(out.tolist()), True
    except (RuntimeError, ValueError) as error:
        told = f"{type(error).__name__}: {error}".splitlines()[0]
    print(f"{given.tolist()} into {out.dtype} of shape {tuple(out.shape)}: expected an exception, observed {told}")
dist.destroy_process_group()
sys.exit(wrong)
