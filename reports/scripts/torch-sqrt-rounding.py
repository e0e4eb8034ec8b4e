"""Square roots of whole numbers in float32, beside those that are rounded once."""

import sys

import numpy as np
import torch

numbers = np.arange(1, 100_001, dtype=np.float32)
right = np.sqrt(numbers.astype(np.float64)).astype(np.float32)  # 24 bits of a root of 53 that is rounded once
found = torch.sqrt(torch.from_numpy(numbers)).numpy()
wrong = np.flatnonzero(found != right)
print(f"{len(wrong)} of {len(numbers)} square roots are not the exact ones, rounded")
for at in wrong[:3]:
    print(f"sqrt({numbers[at]:g}): expected {right[at]!r}, observed {found[at]!r}")
print("the bug is there" if len(wrong) else "the bug is not there")
sys.exit(len(wrong) > 0)
