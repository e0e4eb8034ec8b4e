"""A DTensor on a mesh that lists its ranks in another order: is each part where the mesh's coordinates say?"""

import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Shard, distribute_tensor


def rank(me, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=me, world_size=2)
    mesh = DeviceMesh("cpu", [1, 0])
    part = distribute_tensor(torch.tensor([10, 20]), mesh, [Shard(0)]).to_local()
    results.put((me, mesh.get_coordinate()[0], part.item()))
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = mp.get_context("spawn")
    results = context.Queue()
    ranks = [context.Process(target=rank, args=(me, port, results), daemon=True) for me in range(2)]
    for each in ranks:
        each.start()
    wrong = False
    for me, coordinate, observed in sorted(results.get(timeout=120) for _ in ranks):
        expected = (10, 20)[coordinate]
        wrong |= observed != expected
        print(f"rank {me} has the coordinate {coordinate} in the mesh: expected {expected}, observed {observed}")
    for each in ranks:
        each.join()
    sys.exit(wrong)
