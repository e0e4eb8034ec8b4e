"""isend_inplace and irecv_inplace in a group that is not the world: group ranks 0 and 1 of the ranks 2 and 3."""

import sys
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.multiprocessing as mp


def rank(number, folder):
    limit = timedelta(seconds=10)
    store = dist.FileStore(f"{folder}/store", 4)
    dist.init_process_group("gloo", store=store, rank=number, world_size=4, timeout=limit)
    groups = [dist.new_group(members, timeout=limit) for members in ([0, 1], [2, 3])]
    if number < 2:
        return
    if number == 2:
        functional.wait_tensor(functional.isend_inplace(torch.tensor([7]), None, 0, groups[1], 1))
    else:
        out = torch.zeros(1, dtype=torch.int64)
        functional.wait_tensor(functional.irecv_inplace(out, None, 0, groups[1], 0))
        sys.exit(int(out.item() != 7))


if __name__ == "__main__":
    context = mp.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ranks = [context.Process(target=rank, args=(number, folder)) for number in range(4)]
        for each in ranks:
            each.start()
        for each in ranks:
            each.join()
    ended = [each.exitcode for each in ranks]
    print(f"expected exit statuses [0, 0, 0, 0], observed {ended} (negative: the signal that ended the rank)")
    sys.exit(int(any(ended)))
