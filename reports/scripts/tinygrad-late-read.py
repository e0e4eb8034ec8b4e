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
a, b = Tensor([1, 2, 3]).realize(), Tensor([5, 6, 7]).realize()
a[1:3].assign(b[1:3])
b[1:3].assign(a[1:3] + 1)
print(f"a[1:3].assign(b[1:3]), then b[1:3].assign(a[1:3] + 1): a is {a.tolist()}, expected [1, 6, 7]")
sys.exit(wrong or a.tolist() != [1, 6, 7])
