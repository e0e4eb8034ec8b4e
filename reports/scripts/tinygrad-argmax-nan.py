"""The argmax of a NaN is a position behind the end.

It ends with 1 while this is so and with 0 when it is not.
"""

import sys

from tinygrad import Tensor

one, two = Tensor([float("nan")]).argmax().item(), Tensor([1.0, float("nan"), 2.0]).argmax().item()
print(f"argmax of [nan]: {one}, expected 0")
print(f"argmax of [1, nan, 2]: {two}, expected 0 to 2")
wrong = one != 0 or two not in range(3)
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
