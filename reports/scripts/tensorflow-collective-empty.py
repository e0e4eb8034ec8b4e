"""CollectiveReduceV2 and CollectiveGatherV2 of an empty tensor, in a group of one: each runs in a process of its own.

Expected: an empty tensor, or an exception. A group of one changes nothing.
Observed: the process ends by a segmentation fault. CollectiveReduceV2 does where the tensor was made of an empty NumPy
array, and not where tf.zeros made it; CollectiveGatherV2 does for both.

Needs tensorflow or tensorflow-cpu. Exit status: 1 while this is so, 0 when it is not, 2 when it could not be run.
"""

import os
import subprocess
import sys

ASKED = {
    "CollectiveReduceV2 of tf.constant(np.zeros((0,)))": ("reduce", "numpy", 0),
    "CollectiveReduceV2 of tf.zeros([0])": ("reduce", "zeros", 0),
    "CollectiveReduceV2 of tf.constant(np.zeros((2,)))": ("reduce", "numpy", 2),
    "CollectiveGatherV2 of tf.constant(np.zeros((0,)))": ("gather", "numpy", 0),
    "CollectiveGatherV2 of tf.zeros([0])": ("gather", "zeros", 0),
    "CollectiveGatherV2 of tf.constant(np.zeros((2,)))": ("gather", "numpy", 2),
}
LIMIT = 120  # seconds


def child(op, made, extent):
    try:
        import numpy as np
        import tensorflow as tf
    except ImportError as error:
        print(f"{error}; this needs tensorflow")
        return 2
    given = tf.zeros([extent]) if made == "zeros" else tf.constant(np.zeros((extent,), np.float32))
    group = {"group_size": 1, "group_key": 1, "instance_key": 1, "ordering_token": []}
    if op == "reduce":
        result = tf.raw_ops.CollectiveReduceV2(input=given, merge_op="Add", final_op="Id", **group)
    else:
        result = tf.raw_ops.CollectiveGatherV2(input=given, **group)
    print(f"{result.dtype.name}{list(result.shape)} {result.numpy().tolist()}")
    return 0


def main():
    crashed = 0
    for name, (op, made, extent) in ASKED.items():
        command = [sys.executable, os.path.abspath(__file__), op, made, str(extent)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        )
        if done.returncode == 2:
            print(done.stdout.strip())
            return 2
        told = done.stdout.strip() or done.stderr.strip()[-300:]
        print(f"{name}: {told if done.returncode >= 0 else f'ended by signal {-done.returncode}'}")
        crashed += done.returncode < 0
    print("the bug is there" if crashed else "the bug is not there")
    return int(crashed > 0)


if __name__ == "__main__":
    sys.exit(child(sys.argv[1], sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 1 else main())
