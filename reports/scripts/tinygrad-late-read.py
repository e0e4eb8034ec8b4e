"""A value computed of a tensor that is assigned to before the value is realized.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["DEV"] = "CPU"

from tinygrad import Tensor

wrong = False
for name, new, target, together in (
    ("assign to the whole, realized first", [5, 6], slice(None), False),
    ("assign to a slice, realized first", [5], slice(0, 1), False),
    ("assign to a slice, realized together", [5], slice(0, 1), True),
    ("assign to the whole, realized together", [5, 6], slice(None), True),
):
    a = Tensor([1, 2]).realize()
    earlier = a + 10
    (a if target == slice(None) else a[target]).assign(Tensor(new))
    if together:
        Tensor.realize(earlier, a)
    else:
        a.realize()
    print(f"{name}: a + 10 is {earlier.tolist()}; it was made of [1, 2], so that [11, 12] is right")
    wrong = wrong or earlier.tolist() != [11, 12]
sys.exit(wrong)
