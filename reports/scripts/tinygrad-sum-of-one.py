"""A sum over an axis of one element is the tensor itself, and an assign to the tensor changes it.

It ends with 1 while this is so and with 0 when it is not.
"""

import sys

from tinygrad import Tensor

wrong = False
for name, fold in (("a.sum(0)", lambda a: a.sum(0)), ("a.sum(1)", lambda a: a.sum(1)), ("a * 1", lambda a: a * 1)):
    a = Tensor([[1.0], [2.0]]).contiguous().realize()
    expected = fold(a).flatten().tolist()
    before = fold(a)
    a.assign(Tensor([[5.0], [6.0]]))
    Tensor.realize(before, a)
    observed = before.flatten().tolist()
    wrong = wrong or observed != expected
    print(f"{name} of [[1], [2]], then an assign to a: {observed}, expected {expected}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
