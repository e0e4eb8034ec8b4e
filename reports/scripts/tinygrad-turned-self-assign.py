"""An assign to a view of a tensor in another order of axes or elements, of the tensor itself.

It ends with 1 while a view holds anything but what the tensor held before and with 0 when none does.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor

wrong = False
for name, values, view in (
    ("a.flip(0).assign(a)", [1, 2, 3, 4, 5, 6, 7, 8], lambda a: a.flip(0)),
    ("a.permute(1, 0).assign(a)", [[1, 2], [3, 4]], lambda a: a.permute(1, 0)),
):
    a = Tensor(values).realize()
    expected = view(a).tolist()  # Of a turn that is its own inverse.
    view(a).assign(a)
    print(f"{name}: a is {a.tolist()}, expected {expected}")
    wrong = wrong or a.tolist() != expected
sys.exit(wrong)
