"""DTensor.reshape that drops a split dimension of one element, on a mesh of one rank.

It ends with 1 while it raises and with 0 when there are three elements.
"""

import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = DeviceMesh("cpu", [0])
for shape, flat in (((2, 3), 6), ((1, 3), 3)):
    split = distribute_tensor(torch.arange(flat).reshape(shape), mesh, [Shard(0)])
    try:
        observed = str(split.reshape(flat).full_tensor().tolist())
    except RuntimeError as error:
        observed = f"{type(error).__name__}: {error}".splitlines()[0]
    print(f"{shape} reshaped to ({flat},): expected {list(range(flat))}, observed {observed}")
dist.destroy_process_group()
sys.exit(observed != str([0, 1, 2]))
