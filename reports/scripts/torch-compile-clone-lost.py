"""What an argument held is copied to another one, and the first is written since, under torch.compile: two ways."""

import sys

import torch


def kept(a, b):
    old = a.clone()
    a.add_(1)
    b.copy_(old)


def copied_first(a, b):
    first = a[0] * 2
    b.copy_(a)
    a.add_(1)
    return first


EXPECTED = [0.0, 1.0, 2.0, 3.0]
shown = False
for function in (kept, copied_first):
    found = torch.zeros(4)
    torch.compile(function)(torch.arange(4.0), found)
    print(f"{function.__name__}: expected {EXPECTED}, observed {found.tolist()}")
    shown |= found.tolist() != EXPECTED
sys.exit(shown)
