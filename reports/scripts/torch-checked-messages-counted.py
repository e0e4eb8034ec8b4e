"""An all_reduce of three ranks after a message between two of them, with TORCH_DISTRIBUTED_DEBUG=DETAIL over gloo.

It ends with 1 while the collective is refused and with 0 when every rank has its result.
"""

import os
import sys
import tempfile
from datetime import timedelta

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(me, folder):
    store = dist.FileStore(f"{folder}/store", 3)
    dist.init_process_group("gloo", store=store, rank=me, world_size=3, timeout=timedelta(seconds=30))
    message = torch.ones(1)
    if me == 0:
        dist.send(message, 1)
    elif me == 1:
        dist.recv(message, 0)
    try:
        dist.all_reduce(message)
    except RuntimeError as error:
        print(f"rank {me}: {str(error)[:54]}...{str(error)[-30:]}", flush=True)
        sys.exit(1)
    sys.exit(int(message.item() != 3))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        ranks = [mp.get_context("fork").Process(target=rank, args=(me, folder)) for me in range(3)]
        for each in ranks:
            each.start()
        for each in ranks:
            each.join()
    ended = [each.exitcode for each in ranks]
    print(f"expected exit statuses [0, 0, 0], observed {ended}")
    sys.exit(int(any(ended)))
