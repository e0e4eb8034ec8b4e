"""A tensor is assigned to itself through a permute that moves nothing, and two kernels do it.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor

wrong = False
for name, view in (
    ("reshape(2, 3, 1)", lambda x: x.reshape(2, 3, 1)),
    ("permute(0, 2, 1)", lambda x: x.permute(0, 2, 1)),
):
    x = Tensor([float(n) for n in range(6)]).reshape(2, 1, 3).realize()
    x.assign(view(x).reshape(2, 1, 3))
    items = len(Tensor.linear_with_vars(x)[0].src)
    print(f"x of shape (2, 1, 3) is assigned its {name}, each element to itself: {items} kernels, expected 0")
    wrong = wrong or items != 0
sys.exit(wrong)
