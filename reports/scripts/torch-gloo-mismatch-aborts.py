"""all_reduce over gloo of tensors of unlike lengths.

It ends with 1 while a process is ended by a signal and with 0 when every rank raises an exception.
"""

import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(me, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=me, world_size=2)
    try:
        dist.all_reduce(torch.zeros(16 * (me + 1)))
    except RuntimeError as error:
        print(f"rank {me}: RuntimeError: {error}".splitlines()[0][:200], flush=True)


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [mp.get_context("spawn").Process(target=rank, args=(me, port)) for me in range(2)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join(60)
        each.kill()
    ended = [each.exitcode for each in ranks]
    print(f"exit codes of the ranks: expected [0, 0], observed {ended}")
    sys.exit(any(code < 0 for code in ended))
