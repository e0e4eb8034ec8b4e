"""all_reduce over gloo, in place, of every second element of a tensor."""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

EXPECTED = {0: [0, 2], 1: [0, 2]}


def rank(number, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    memory = torch.zeros(4, dtype=torch.int64)
    view = memory[::2]
    view[1] = 2 * number
    dist.all_reduce(view)
    results.put((number, view.tolist()))
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
