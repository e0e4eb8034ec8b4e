"""Names of MLX's distributed functions, run on two processes in a ring."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.specification.framework_names.rows import Rows, reference, says

mlx_rows = Rows("mlx")

X = [[1, 10], [2, 20]]
SQUARE = [[1, 10, 3, 30], [2, 20, 4, 40]]
NAN = [[1.0], [float("nan")]]


def block(rank: int, rows: list[Any] = X, dtype: str = "int32") -> Any:
    import mlx.core as mx

    return mx.array(rows[rank], dtype=getattr(mx, dtype))


def call(function: str, rows: list[Any] = X, dtype: str = "int32") -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        import mlx.core as mx
        import numpy as np

        return np.array(getattr(mx.distributed, function)(block(rank, rows, dtype), stream=mx.cpu))

    return run


for theirs, ours in (("all_sum", "sum"), ("all_max", "max"), ("all_min", "min")):
    mlx_rows(f"distributed.{theirs}", ours=reference("all_reduce", X, op=ours))(call(theirs))
mlx_rows("distributed.all_gather", ours=reference("all_gather", X, axis=0, tiled=True))(call("all_gather"))
mlx_rows(
    "distributed.sum_scatter",
    "on the ring",
    ours=reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True),
    theirs="raises RuntimeError",
)(call("sum_scatter", SQUARE))


def passed(function: str) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        import mlx.core as mx
        import numpy as np

        if rank == 0:
            mx.eval(mx.distributed.send(block(0), 1, stream=mx.cpu))
            return None
        if function == "recv_like":
            return np.array(mx.distributed.recv_like(block(1), 0, stream=mx.cpu))
        return np.array(mx.distributed.recv((2,), mx.int32, 0, stream=mx.cpu))

    return run


for name in ("send", "recv", "recv_like"):
    mlx_rows(f"distributed.{name}", ours=says("nothing", "int32 [1, 10]"))(passed(name))


@mlx_rows("distributed.Group.rank", ours=says("int 0", "int 1"))
def _(_: int) -> Any:
    import mlx.core as mx

    return mx.distributed.init().rank()


@mlx_rows("distributed.Group.size", ours=says("int 2"))
def _(_: int) -> Any:
    import mlx.core as mx

    return mx.distributed.init().size()


def free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def serve(folder: Path) -> None:
    """Start both processes and wait for them."""
    hosts = folder / "hosts.json"
    hosts.write_text(str([[f"127.0.0.1:{port}"] for port in free_ports(2)]).replace("'", '"'))
    command = [sys.executable, "-m", "tests.specification.framework_names.mlx_rows", str(folder)]
    started = [
        subprocess.Popen(command, env=os.environ | {"MLX_RANK": str(rank), "MLX_HOSTFILE": str(hosts)})
        for rank in range(2)
    ]
    for each in started:
        each.wait(60)


if __name__ == "__main__":
    from tests.specification.framework_names import mlx_rows as module

    if "MLX_RANK" in os.environ:
        import mlx.core as mx

        mx.set_default_device(mx.cpu)
        here = mx.distributed.init(backend="ring", strict=True).rank()
        module.mlx_rows.observe(here, Path(sys.argv[1]) / f"mlx{here}.json")
    else:
        module.serve(Path(sys.argv[1]))
