"""A sum or a maximum of 8-bit floats in a kernel with a loop raises an error of tinygrad's own check.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor, dtypes

wrong = False
for dtype in (dtypes.fp8e4m3, dtypes.fp8e5m2):
    for count in (17, 40):
        ones = Tensor([1.0] * count, dtype=dtypes.float32).cast(dtype).realize()
        for name, reduce, expected in (
            ("sum", lambda x: x.sum(dtype=x.dtype), float(count)),
            ("max", lambda x: x.max(), 1.0),
        ):
            try:
                found = reduce(ones).cast(dtypes.float32).item()
            except RuntimeError as error:
                found = f"RuntimeError: {str(error).splitlines()[0][:90]}"
                wrong = True
            print(f"{name} of {count} ones of {dtype}: {found}, expected about {expected}")
sys.exit(wrong)
