"""The sum of integers of 8 bits, compiled by Inductor for a CPU."""

import sys

import torch
import torch._inductor.config

torch._inductor.config.cpp.simdlen = 256  # vectors of AVX2: with those of AVX-512 the sums are right
torch.set_num_threads(1)
wrong = False
for dtype in (torch.uint8, torch.int8, torch.int16):
    for count in (15, 16, 300):

        def total(x, dtype=dtype):
            return x.sum(dtype=dtype)

        x = torch.ones(count, dtype=dtype)
        torch.compiler.reset()
        eager, compiled = total(x).item(), torch.compile(total, fullgraph=True)(x).item()
        print(f"{count} ones of {dtype}: {eager} eagerly, {compiled} compiled")
        wrong = wrong or eager != compiled
sys.exit(wrong)
