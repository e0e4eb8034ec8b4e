"""all_max over the ring of two local processes, where the maximum of MLX itself is NaN."""

import json
import math
import os
import socket
import subprocess
import sys
import tempfile

import mlx.core as mx


def rank():
    group = mx.distributed.init(strict=True, backend="ring")
    blocks = [mx.array([0.0, 0.0]), mx.array([math.nan, math.nan])]
    both = mx.distributed.all_max(blocks[group.rank()], group=group)
    mx.eval(both)
    print(json.dumps([both.tolist(), mx.maximum(*blocks).tolist()]))


if __name__ == "__main__":
    if "MLX_RANK" in os.environ:
        rank()
        sys.exit()
    sockets = [socket.socket() for _ in range(2)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    hosts = [[f"127.0.0.1:{each.getsockname()[1]}"] for each in sockets]
    for each in sockets:
        each.close()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(hosts, file)
        file.flush()
        started = [
            subprocess.Popen(
                [sys.executable, __file__],
                env=dict(os.environ, MLX_RANK=str(number), MLX_HOSTFILE=file.name),
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(2)
        ]
        found = [json.loads(each.communicate(timeout=60)[0].splitlines()[-1]) for each in started]
    wrong = False
    for number, (both, local) in enumerate(found):
        print(f"rank {number}: all_max {both}, maximum {local}")
        wrong |= [math.isnan(each) for each in both] != [math.isnan(each) for each in local]
    sys.exit(wrong)
