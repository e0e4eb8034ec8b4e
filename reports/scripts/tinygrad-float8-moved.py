"""contiguous() of every number of float8_e5m2, and argmin of a column with its least number and -inf.

It ends with 1 while an infinity becomes a number and with 0 when it does not.
"""

import sys

from tinygrad import Tensor, dtypes

sent = list(range(256))
moved = Tensor(bytes(sent), dtype=dtypes.fp8e5m2).realize().reshape(16, 16).permute(1, 0).contiguous().realize()
found = moved.bitcast(dtypes.uint8).permute(1, 0).flatten().tolist()
for a, b in zip(sent, found, strict=True):
    if a != b:
        print(f"contiguous: expected {a:#04x}, observed {b:#04x}" + " (an infinity)" * (a & 0x7F == 0x7C))
rows = [[0xFC, 0x7C, 0xFB], [0x00, 0x00, 0xFC]]  # 0xfc is -inf, 0xfb is -57344
least = Tensor(bytes(sum(rows, [])), dtype=dtypes.fp8e5m2).reshape(2, 3).realize().argmin(0).tolist()
print(f"argmin along the first axis of {rows}: expected [0, 1, 1], observed {least}")
sys.exit(found[0x7C] != 0x7C or least != [0, 1, 1])
