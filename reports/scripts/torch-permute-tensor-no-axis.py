"""permute_tensor of a tensor without axes, on one rank, in a process of its own.

It ends with 1 while that process is ended by a signal and with 0 when there is a result or an exception.
"""

import subprocess
import sys

PERMUTE = """
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
print(functional.wait_tensor(functional.permute_tensor(torch.tensor(7), [0], dist.group.WORLD)), flush=True)
"""

code = subprocess.run([sys.executable, "-c", PERMUTE], check=False).returncode
print(f"exit code: expected 0, or 1 with an exception, observed {code}")
sys.exit(code < 0)
