"""A number on two devices that goes by way of one of them and meets itself.

It ends with 1 while that raises and with 0 when it gives the number.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor, dtypes

wrong = False
for shape in ((1,), ()):
    number = Tensor([2.0], dtype=dtypes.float64, device="CPU").reshape(shape)
    there = number.shard(("CPU", "CPU:1")).contiguous().realize().clone()
    back = there.to("CPU").shard(("CPU", "CPU:1"))
    try:
        observed = (back + there).numpy().item()
    except RuntimeError as error:
        observed = f"RuntimeError: {str(error)[:70]}"
    print(f"shape {shape}: expected 4.0, observed {observed}")
    wrong = wrong or observed != 4.0
sys.exit(wrong)
