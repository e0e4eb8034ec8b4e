"""Zeros whose signs tinygrad's rules of rewriting lose.

It ends with 1 while one is lost and with 0 when none is.
"""

import math
import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor, dtypes

wrong = False
for name, number, function, sign in (
    ("2.5 / -inf", 2.5, lambda x: x / float("-inf"), -1.0),
    ("2.5 * -0.0", 2.5, lambda x: x * -0.0, -1.0),
    ("-0.0 + 0.0", -0.0, lambda x: x + 0.0, 1.0),
    ("0.0 - 0.0", 0.0, lambda x: 0.0 - x, 1.0),
):
    found = function(Tensor([number], dtype=dtypes.float64).realize()).tolist()[0]
    print(f"{name} is {found}, expected {math.copysign(0.0, sign)} (IEEE 754-2019, 6.3)")
    wrong = wrong or found != 0 or math.copysign(1.0, found) != sign
sys.exit(wrong)
