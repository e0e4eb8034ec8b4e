"""The absolute value of -0.0 is -0.0.

It ends with 1 while this is so and with 0 when it is not.
"""

import math
import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor, dtypes

wrong = False
for dtype in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64):
    (found,) = Tensor([-0.0], dtype=dtype).realize().abs().tolist()
    print(f"abs of -0.0 of {dtype} is {found}, expected 0.0 (IEEE 754-2019, 5.5.1)")
    wrong = wrong or math.copysign(1.0, found) < 0
sys.exit(wrong)
