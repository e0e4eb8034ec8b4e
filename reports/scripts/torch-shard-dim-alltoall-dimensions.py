"""shard_dim_alltoall with dimensions that a tensor does not have, on one rank.

It ends with 1 while there is a result, or an extent that is none of the tensor's, and with 0 when each is refused.
"""

import os

import torch
import torch.distributed as dist
import torch.distributed.tensor  # it registers the operator

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
name, wrong = dist.group.WORLD.group_name, False
for shape, gather, shard in (((1,), 0, 1), ((2, 2), 2, 0), ((2, 2), 0, 5)):
    try:
        found = torch.ops._dtensor.shard_dim_alltoall(torch.zeros(shape), gather, shard, name)
        told = f"a result of shape {tuple(found.shape)}"
        wrong = True
    except (IndexError, RuntimeError) as error:
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        wrong |= not isinstance(error, IndexError) and "out of range" not in told
    print(
        f"gather_dim {gather} and shard_dim {shard} of shape {shape}: expected IndexError, observed {told}", flush=True
    )
os._exit(wrong)  # the heap may be spoilt: no interpreter to be taken down
