"""A product of a view with ones, when the storage of the view is written afterwards, under torch.compile."""

import sys

import torch


def product(x, z):
    y = x.view(2, 2) * torch.ones([2, 2], dtype=torch.int64)
    x.copy_(z)
    return y


EXPECTED = [[0, 1], [2, 3]]
found = torch.compile(product)(torch.arange(4), torch.tensor([5, 6, 7, 8])).tolist()
print(f"expected {EXPECTED}, observed {found}")
sys.exit(found != EXPECTED)
