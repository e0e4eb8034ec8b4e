"""A bool that all() makes of a comparison which is always true cannot be taken in an exclusive or.

It ends with 1 while this is so and with 0 when it is not.
"""

import sys

from tinygrad import Tensor

a = Tensor([1, 2, 3, 4]).realize()
print("expected False")
try:
    observed = ((a == a).all() ^ True).item()
except RuntimeError as error:
    observed = f"RuntimeError: {' '.join(str(error).split())[:120]}"
print(f"observed {observed}")
wrong = observed is not False
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
