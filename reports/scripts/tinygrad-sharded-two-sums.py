"""The difference of the two sums of a square tensor that is split along its second axis.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor

devices = ("CPU:0", "CPU:1")
wrong = False
for axis in (None, 0, 1):
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).shard(devices, axis).contiguous().realize()
    try:
        found = (x.sum(0) - x.sum(1)).tolist()
    except AssertionError as error:
        found = f"AssertionError: {error}"
    print(f"split along {axis}: {found}, expected [1.0, -1.0]")
    wrong = wrong or found != [1.0, -1.0]
sys.exit(wrong)
