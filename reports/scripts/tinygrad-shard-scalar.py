"""A tensor without axes is split along axis 0.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor

devices = ("CPU:0", "CPU:1")
for shape, axis in (((2, 2), 2), ((), 1)):
    try:
        Tensor.ones(*shape).contiguous().realize().shard(devices, axis)
        print(f"shape {shape}, axis {axis}: no error")
    except IndexError as error:
        print(f"shape {shape}, axis {axis}: IndexError: {error}")
try:
    made = Tensor.ones(2, 2).contiguous().realize().sum().shard(devices, 0)
except IndexError as error:
    print(f"shape (), axis 0: IndexError: {error}")
    sys.exit(0)
print(f"shape (), axis 0: no error; a tensor of shape {made.shape} that is split along axis {made.uop.axis}")
try:
    print(made.tolist())
except IndexError as error:
    print(f"its tolist(): IndexError: {error}")
sys.exit(1)
