"""isend and irecv over gloo, where a rank sends to itself."""

import sys
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

EXPECTED = {0: [0, 1], 1: [1, 2]}


def rank(number, port, results):
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", init_method=address, rank=number, world_size=2, timeout=timedelta(seconds=5))
    sent = torch.tensor([number, number + 1])
    received = torch.zeros(2, dtype=torch.int64)
    dist.barrier()
    try:
        works = [dist.isend(sent, number), dist.irecv(received, number)]
        for work in works:
            work.wait()
        results.put((number, received.tolist()))
    except RuntimeError as error:
        results.put(
            (number, f"RuntimeError: {str(error).split(']')[1].strip()[:60]}" if "]" in str(error) else str(error))
        )
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
            found.update([results.get(timeout=20)])
    except queue.Empty:
        pass
    for number, each in enumerate(ranks):
        if number not in found and each.exitcode is not None:
            found[number] = f"exit code {each.exitcode}"
    for each in ranks:
        each.terminate()
    print(f"expected {EXPECTED}, observed {dict(sorted(found.items()))}")
    sys.exit(found != EXPECTED)
