"""torch.distributed.scatter over gloo, with a list of columns of a matrix: views whose stride is not 1."""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(number, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    columns = list(torch.arange(6).reshape(3, 2).unbind(1))
    out = torch.empty(3, dtype=torch.int64)
    dist.scatter(out, columns if number == 0 else None, src=0)
    results.put((number, out.tolist()))
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
    print(f"expected {{0: [0, 2, 4], 1: [1, 3, 5]}}, observed {dict(sorted(found.items()))}")
    sys.exit(found != {0: [0, 2, 4], 1: [1, 3, 5]})
