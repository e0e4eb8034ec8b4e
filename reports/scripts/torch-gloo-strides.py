"""scatter, reduce_scatter, all_reduce, broadcast and reduce over gloo of tensors with strides, beside contiguous ones.

It ends with 1 while elements are wrong and with 0 when none is.
"""

import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def strided(*numbers):
    """Return a view of every second element of its memory."""
    view = torch.zeros(2 * len(numbers), dtype=torch.int64)[::2]
    return view.copy_(torch.tensor(numbers))


def run(number, make):
    out = make(0, 0)
    blocks = [make(1, 2), make(3, 4)]
    dist.scatter(out, blocks if number == 0 else None, src=0)
    scattered = out.tolist()
    out = make(0, 0)
    dist.reduce_scatter(out, blocks)
    reduced = out.tolist()
    both, sent, one = make(number, 2 * number), make(number + 5, number + 6), make(1, 2)
    dist.all_reduce(both)
    dist.broadcast(sent, src=0)
    dist.reduce(one, dst=0)
    return {"scatter": scattered, "reduce_scatter": reduced, "all_reduce": both.tolist(), "broadcast": sent.tolist(),
            "reduce": one.tolist() if number == 0 else None}  # fmt: skip


def rank(number, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2)
    wrong = False
    expected, found = run(number, lambda *numbers: torch.tensor(numbers)), run(number, strided)
    for name in expected:
        wrong = wrong or found[name] != expected[name]
        print(f"rank {number}, {name}: expected {expected[name]}, observed {found[name]}", flush=True)
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
