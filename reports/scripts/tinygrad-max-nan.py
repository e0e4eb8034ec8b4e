"""The maximum of a number and a NaN is the one or the other by their order.

It ends with 1 while this is so and with 0 when it is not.
"""

import math
import sys

from tinygrad import Tensor

nan = float("nan")
found = {str(values): Tensor(values).max().item() for values in ([0.0, nan], [nan, 0.0])}
wrong = [text for text, value in found.items() if not math.isnan(value)]
print(f"expected nan of both, observed {found}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(bool(wrong))
