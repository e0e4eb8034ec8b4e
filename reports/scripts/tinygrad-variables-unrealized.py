"""A tensor that is computed with two uses of bound variables is never realized.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor, UOp

one, other = (UOp.variable(name, 1, 4).bind(value) for name, value in (("m", 2), ("n", 3)))
wrong = False
for name, make in (
    ("x + m", lambda x: x + one),
    ("x + m + m", lambda x: x + one + one),
    ("x * m * n", lambda x: x * one * other),
):
    made = make(Tensor([1.0, 2.0, 3.0, 4.0]).realize())
    items = len(Tensor.linear_with_vars(made)[0].src)
    made.realize()
    stored = made.uop.has_buffer_identity()
    place = "in a buffer" if stored else "in no buffer"
    print(f"{name}: {items} kernels are scheduled, expected 1; after realize() it is {place}")
    wrong = wrong or items != 1 or not stored
sys.exit(wrong)
