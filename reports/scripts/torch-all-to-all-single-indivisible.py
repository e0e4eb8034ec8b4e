"""all_to_all_single over gloo of three rows for two ranks, without split sizes.

It ends with 1 while there is a result and with 0 when every rank raises an exception.
"""

import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(me, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=me, world_size=2)
    given = torch.arange(3, dtype=torch.int32) + 10 * me
    out = torch.full((3,), -1, dtype=torch.int32)
    try:
        dist.all_to_all_single(out, given)
        results.put((me, given.tolist(), str(out.tolist())))
    except (RuntimeError, ValueError) as error:
        results.put((me, given.tolist(), f"{type(error).__name__}: {error}".splitlines()[0]))
    dist.barrier()


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
    for me, given, observed in sorted(results.get(timeout=120) for _ in ranks):
        wrong |= observed.startswith("[")
        print(f"rank {me} gave {given}: expected an exception, observed {observed}")
    for each in ranks:
        each.join()
    sys.exit(wrong)
