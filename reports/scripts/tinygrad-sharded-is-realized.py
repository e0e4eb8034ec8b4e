"""Whether tinygrad says of a sharded tensor that was realized that it is."""

import sys

from tinygrad import Tensor

DEVICES = ("CPU:0", "CPU:1")

said = {}
for axis in (None, 0):
    tensor = Tensor([[1.0, 2.0], [3.0, 4.0]]).shard(DEVICES, axis).contiguous().realize()
    said[axis] = tensor.uop.is_realized
print(
    f"expected True of both, observed {said[None]} of the replicated tensor and {said[0]} of the one split along axis 0"
)
sys.exit(said != {None: True, 0: True})
