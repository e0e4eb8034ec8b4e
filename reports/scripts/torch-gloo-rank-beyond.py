"""Messages over gloo to ranks that a group of one does not have.

It ends with 1 while one of them ends the process by a signal and with 0 when each raises an exception.
"""

import sys
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.multiprocessing as mp


def isend(peer):
    dist.isend(torch.zeros(3), peer).wait()


def batch(peer):
    world = dist.group.WORLD
    functional.wait_tensor(functional.batch_p2p_ops_inplace(["isend"], [peer], [0], [torch.zeros(3)], world)[0])


def alone(send, folder):
    store = dist.FileStore(f"{folder}/store", 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1, timeout=timedelta(milliseconds=20))
    for peer in range(1, 2000):
        try:
            send(peer)
        except (RuntimeError, ValueError) as error:
            if peer == 1:
                print(f"{send.__name__} to rank 1 of 1: {error}", flush=True)


if __name__ == "__main__":
    ended = []
    for send in (isend, batch):
        with tempfile.TemporaryDirectory() as folder:
            process = mp.get_context("spawn").Process(target=alone, args=(send, folder))
            process.start()
            process.join()
            ended.append(process.exitcode)
    print(f"expected exit statuses [0, 0], observed {ended} (negative: the signal that ended the process)")
    sys.exit(int(any(code < 0 for code in ended)))
