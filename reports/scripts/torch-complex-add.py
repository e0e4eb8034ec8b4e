"""Sums and differences of complex numbers, of which one part of an operand is infinite."""

import math
import sys

import torch

wrong = False
one, endless = torch.tensor([1 + 1j]), torch.tensor([complex(0, math.inf)])
for text, left, right, operation in (
    ("inf j + (1 + 1j)", endless, one, torch.add),
    ("(1 + 1j) + inf j", one, endless, torch.add),
    ("inf j - (1 + 1j)", endless, one, torch.sub),
    ("(1 + 1j) - inf j", one, endless, torch.sub),
):
    found = operation(left, right)
    expected = torch.view_as_complex(operation(torch.view_as_real(left), torch.view_as_real(right)))
    same = torch.equal(torch.view_as_real(found), torch.view_as_real(expected))
    wrong = wrong or not same
    print(f"{text}: part by part {expected.item()}, observed {found.item()}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
