"""A functional all_reduce under torch.func.vmap: the sum over two ranks of two slices of ones."""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(number, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    from torch.distributed import _functional_collectives as functional

    def summed(block):
        return functional.wait_tensor(functional.all_reduce(block, "sum", dist.group.WORLD))

    found = torch.func.vmap(summed)(torch.ones(2, 1 << 20)).unique().tolist()
    results.put((number, found))
    dist.destroy_process_group()


if __name__ == "__main__":
    import queue
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = mp.get_context("spawn")
    results = context.Queue()
    ranks = [context.Process(target=rank, args=(number, port, results), daemon=True) for number in range(2)]
    for each in ranks:
        each.start()
    found = {}
    try:
        while len(found) < 2:
            found.update([results.get(timeout=60)])
    except queue.Empty:
        pass
    for each in ranks:
        each.terminate()
    expected = {0: [2.0], 1: [2.0]}
    print(f"expected {expected}, observed {dict(sorted(found.items()))}")
    sys.exit(found != expected)
