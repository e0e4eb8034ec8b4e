"""A number minus itself is 0, divided by itself 1 and times zero 0, also where it is infinite or no number.

It ends with 1 while this is so and with 0 when it is not.
"""

import math
import sys

from tinygrad import Tensor

x = Tensor([1.0, math.inf, math.nan]).contiguous().realize()
wrong = False
for name, made, expected in (
    ("x - x", x - x, [0.0, math.nan, math.nan]),
    ("x / x", x / x, [1.0, math.nan, math.nan]),
    ("x * 0", x * 0, [0.0, math.nan, math.nan]),
):
    observed = made.tolist()
    wrong = wrong or any(math.isnan(b) and not math.isnan(a) for a, b in zip(observed, expected, strict=True))
    print(f"{name} of [1, inf, nan]: {observed}, expected {expected}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
