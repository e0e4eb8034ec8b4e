"""An assign to a view through a reshape is not seen by the tensor that it is a view of.

It ends with 1 while this is so and with 0 when it is not.
"""

import sys

from tinygrad import Tensor, dtypes


def written(view):
    """Return what a tensor of six elements holds after an assign to ``view`` of it."""
    whole = Tensor([1, 2, 3, 4, 5, 6], dtype=dtypes.int32).contiguous().realize()
    view(whole).assign(Tensor([7, 8, 9], dtype=dtypes.int32))
    return whole.tolist()


VIEWS = {
    "a[0:3]": lambda a: a[0:3],
    "a.reshape(2, 3)[0]": lambda a: a.reshape(2, 3)[0],
    "a.reshape(2, 3).reshape(6)[0:3]": lambda a: a.reshape(2, 3).reshape(6)[0:3],
}

expected = [7, 8, 9, 4, 5, 6]
wrong = 0
for name, view in VIEWS.items():
    observed = written(view)
    wrong += observed != expected
    print(f"{name}.assign([7, 8, 9]): a is {observed}, expected {expected}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(bool(wrong))
