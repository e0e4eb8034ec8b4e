"""all_to_all_single with a negative split size over gloo: it starts two ranks, and says how each ended."""

import datetime
import multiprocessing
import sys
import tempfile

import torch
import torch.distributed as dist


def work(rank: int, store: str, ended: multiprocessing.Queue) -> None:
    dist.init_process_group("gloo", f"file://{store}", datetime.timedelta(seconds=10), world_size=2, rank=rank)
    sends = ([-1, 6], [2, 1])[rank]  # which come to the rows of the operands: 5 and 3
    receives = ([-1, 2], [6, 1])[rank]
    block, found = torch.arange(sum(sends)), torch.full((sum(receives),), -1)
    try:
        dist.all_to_all_single(found, block, receives, sends)
        ended.put((rank, f"took it and gave {found.tolist()}"))
    except (RuntimeError, ValueError) as error:
        ended.put((rank, f"raised {type(error).__name__}: {' '.join(str(error).split())[:150]}"))


if __name__ == "__main__":
    started = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue = started.Queue()
    with tempfile.TemporaryDirectory() as folder:
        ranks = [started.Process(target=work, args=(rank, f"{folder}/store", told)) for rank in range(2)]
        for each in ranks:
            each.start()
        for each in ranks:
            each.join(60)
            each.kill()
            each.join()
    said = {}
    while not told.empty():
        rank, text = told.get()
        said[rank] = text
    for rank, each in enumerate(ranks):
        words = said.get(rank, "nothing said")
        print(f"rank {rank}: expected an error about the size, observed exit code {each.exitcode}, {words}")
    wrong = any(each.exitcode for each in ranks) or not all("split" in said.get(rank, "") for rank in range(2))
    print("the bug is there" if wrong else "the bug is not there")
    sys.exit(wrong)
