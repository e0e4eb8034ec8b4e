"""Four ranks of Torch over gloo, each a fork of one process that has imported it."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

from tests.specification.framework_names import (
    torch_gradient_rows,
    torch_layout_rows,
    torch_list_rows,
    torch_message_rows,
)
from tests.specification.framework_names.dtensor_rows import dtensor_rows
from tests.specification.framework_names.rows import WORLD
from tests.specification.framework_names.torch_rows import torch_rows

assert torch_message_rows.__doc__  # they have entered their rows
assert torch_gradient_rows.__doc__
assert torch_layout_rows.__doc__
assert torch_list_rows.__doc__


def serve(folder: Path) -> None:
    """Fork the ranks, each of which runs all rows, and end when all have ended."""
    import torch
    import torch._dynamo
    import torch.distributed as dist

    torch.set_num_threads(1)
    children = []
    for rank in range(WORLD):
        child = os.fork()
        if child == 0:
            torch.set_num_threads(1)
            dist.init_process_group(
                "gloo",
                init_method=f"file://{folder}/store",
                rank=rank,
                world_size=WORLD,
                timeout=timedelta(seconds=300),
            )
            torch_rows.observe(rank, folder / f"torch{rank}.json")
            dtensor_rows.observe(rank, folder / f"dtensor{rank}.json")
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
