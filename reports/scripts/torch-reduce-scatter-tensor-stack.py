"""reduce_scatter_single over gloo with an input that stacks the blocks."""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

EXPECTED = {0: [2.0], 1: [4.0]}


def rank(number, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    stacked = torch.tensor([[1.0], [2.0]])
    out = torch.zeros(1)
    reduce_scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)
    try:
        reduce_scatter(out, stacked)
        results.put((number, out.tolist()))
    except RuntimeError as error:
        results.put((number, f"{type(error).__name__}: {error}".splitlines()[0]))
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
    print(f"expected {EXPECTED}, observed {dict(sorted(found.items()))}")
    sys.exit(found != EXPECTED)
