"""A view of an argument, overwritten by what is computed of it turned round, under torch.compile."""

import sys

import torch


def turned(a):
    view = a.view(2, 3)
    view.copy_(view.flip(0) * 2)


EXPECTED = [6.0, 8.0, 10.0, 0.0, 2.0, 4.0]
found = torch.arange(6.0)
torch.compile(turned)(found)
print(f"expected {EXPECTED}, observed {found.tolist()}")
sys.exit(found.tolist() != EXPECTED)
