"""A value that was asked to be contiguous is computed although nothing reads it any more.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor

wrong = False
for name, make in (
    ("x - x", lambda x: x - x),
    ("x < x, of a part", lambda x: x[:1] < x[:1]),
    ("x ^ x", lambda x: (x > 0) ^ (x > 0)),
):
    kept = (Tensor([1.0, 2.0]).realize() + 1).contiguous()
    items = Tensor.linear_with_vars(make(kept))[0].src
    read = {buffer for item in items[1:] for buffer in item.src[1:]}
    unread = len(items) > 1 and items[0].src[1] not in read
    print(f"{name}: {len(items)} kernels, the first of which makes what {'nothing reads' if unread else 'is read'}")
    wrong = wrong or unread
sys.exit(wrong)
