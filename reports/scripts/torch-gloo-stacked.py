"""The stacked forms of all_gather_single and reduce_scatter_single over gloo.

It ends with 1 while one of them is refused and with 0 when both are right.
"""

import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

GATHER = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
SCATTER = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)


def rank(number, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    wrong = False
    for name, call, out, given, expected in (
        ("all_gather_single", GATHER, torch.zeros(2, 2), torch.tensor([1.0, 2.0]), [[1.0, 2.0], [1.0, 2.0]]),
        ("reduce_scatter_single", SCATTER, torch.zeros(1), torch.tensor([[1.0], [2.0]]), [2.0 * (number + 1)]),
    ):
        try:
            call(out, given)
            found = out.tolist()
        except RuntimeError as error:
            found = f"RuntimeError: {error}".splitlines()[0]
        wrong = wrong or found != expected
        print(f"rank {number}, {name}: expected {expected}, observed {found}", flush=True)
    dist.destroy_process_group()
    sys.exit(wrong)


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
    sys.exit(any(each.exitcode for each in ranks))
