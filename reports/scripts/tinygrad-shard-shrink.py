"""A shrink of a sharded tensor to the part of one device."""

import sys

from tinygrad import Tensor

x = Tensor([[1, 2], [3, 4], [5, 6], [7, 8]]).shard(("CPU:0", "CPU:1"), axis=0).realize()
expected = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
found = []
for first in (0, 2):
    try:
        found.append(x.shrink(((first, first + 2), None)).tolist())
    except Exception as error:
        found.append(f"{type(error).__name__}: {str(error)[:200]}")
print(f"expected {expected}, observed {found}")
sys.exit(found != expected)
