"""permute_tensor of a matrix over gloo: the sizes of its exchange count elements, where rows are meant."""

import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.multiprocessing as mp


def rank(number, folder, results):
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", 2), rank=number, world_size=2)
    try:
        made = functional.permute_tensor(torch.full((2, 2), number), [1, 0], dist.group.WORLD)
        results.put((number, functional.wait_tensor(made).tolist()))
    except Exception as error:
        results.put((number, f"{type(error).__name__}: {error}".splitlines()[0]))


if __name__ == "__main__":
    context = mp.get_context("spawn")
    results = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        ranks = [context.Process(target=rank, args=(number, folder, results), daemon=True) for number in range(2)]
        for each in ranks:
            each.start()
        found = dict(results.get() for _ in ranks)
        for each in ranks:
            each.join()
    print(f"expected {{0: [[1, 1], [1, 1]], 1: [[0, 0], [0, 0]]}}, observed {dict(sorted(found.items()))}")
    sys.exit(int(found != {0: [[1, 1], [1, 1]], 1: [[0, 0], [0, 0]]}))
