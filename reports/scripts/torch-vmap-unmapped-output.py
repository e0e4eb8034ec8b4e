"""torch.func.vmap with out_dims=1 of an output that does not depend on the mapped input."""

import sys

import torch

SAME = torch.tensor([[0.0, 1.0], [2.0, 3.0]])

if __name__ == "__main__":
    mapped = torch.func.vmap(lambda _, same: same, in_dims=(0, None), out_dims=1)
    expected = torch.stack([SAME, SAME], dim=1).tolist()
    observed = mapped(torch.zeros(2), SAME).tolist()
    print(f"expected {expected}, observed {observed}")
    sys.exit(expected != observed)
