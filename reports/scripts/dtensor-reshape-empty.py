"""DTensor.reshape of a tensor without elements: does it come to an end?"""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, distribute_tensor


def rank(port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    whole = distribute_tensor(torch.zeros(0, 2), init_device_mesh("cpu", (1,)), [Replicate()])
    results.put("distributed")
    results.put(list(whole.reshape(0).shape))


if __name__ == "__main__":
    import queue
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = mp.get_context("spawn")
    results = context.Queue()
    one = context.Process(target=rank, args=(port, results), daemon=True)
    one.start()
    results.get(timeout=300)
    try:
        found = results.get(timeout=30)
    except queue.Empty:
        found = "no answer in 30 seconds"
    one.kill()
    print(f"expected the shape [0], observed {found}")
    sys.exit(found != [0])
