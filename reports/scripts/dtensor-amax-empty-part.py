"""DTensor.amax along the axis that is split, where one rank has an empty part."""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor


def rank(number, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=3)
    mesh = init_device_mesh("cpu", (3,))
    whole = torch.tensor([[5.0, 2.0], [1.0, 7.0]])  # two rows on three ranks: the last part is empty
    try:
        found = distribute_tensor(whole, mesh, [Shard(0)]).amax(dim=0).full_tensor().tolist()
    except Exception as error:
        found = f"{type(error).__name__}: {str(error)[:80]}"
    results.put((number, found))
    if isinstance(found, list):
        dist.destroy_process_group()


if __name__ == "__main__":
    import queue
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = mp.get_context("spawn")
    results = context.Queue()
    ranks = [context.Process(target=rank, args=(number, port, results), daemon=True) for number in range(3)]
    for each in ranks:
        each.start()
    found = {}
    try:
        while len(found) < 3:
            found.update([results.get(timeout=60)])
    except queue.Empty:
        pass
    for each in ranks:
        each.terminate()
    print(f"expected [5.0, 7.0] on every rank, observed {dict(sorted(found.items()))}")
    sys.exit(any(found.get(number) != [5.0, 7.0] for number in range(3)))
