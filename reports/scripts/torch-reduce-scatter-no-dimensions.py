"""reduce_scatter_single over gloo with an output without dimensions.

It ends with 1 while a process is ended by a signal and with 0 when there is a result or an exception.
"""

import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SCATTER = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)


def rank(number, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    out = torch.tensor(0.0)
    try:
        SCATTER(out, torch.tensor([1.0, 2.0]))
        print(f"rank {number}: expected {2.0 * (number + 1)} or an exception, observed {out.item()}", flush=True)
    except RuntimeError as error:
        print(f"rank {number}: RuntimeError: {error}".splitlines()[0], flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [mp.get_context("spawn").Process(target=rank, args=(number, port)) for number in range(2)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join(60)
        each.kill()
    ended = [each.exitcode for each in ranks]
    print(f"exit codes of the ranks: expected [0, 0], observed {ended}")
    sys.exit(any(code < 0 for code in ended))
