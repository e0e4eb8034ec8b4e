"""A clone of an argument that is copied to another one, when the first has been written since, under torch.compile."""

import sys

import torch


def kept(a, b):
    old = a.clone()
    a.add_(1)
    b.copy_(old)


EXPECTED = [0.0, 1.0, 2.0, 3.0]
found = torch.zeros(4)
torch.compile(kept)(torch.arange(4.0), found)
print(f"expected {EXPECTED}, observed {found.tolist()}")
sys.exit(found.tolist() != EXPECTED)
