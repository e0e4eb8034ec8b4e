"""MPI_Gather into a resized datatype: run as it is, it starts itself with two ranks under mpiexec."""

import os
import subprocess
import sys

if "--rank" not in sys.argv:
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    launcher = ["env", "I_MPI_FABRICS=shm", beside if os.path.exists(beside) else "mpiexec"]
    sys.exit(subprocess.run([*launcher, "-n", "2", sys.executable, __file__, "--rank"], check=False).returncode)

import numpy as np
from mpi4py import MPI

world, rows, root = MPI.COMM_WORLD, 100, 1
block = np.arange(rows, dtype=np.float64) + 1000 * world.rank
memory = np.full((4 * rows, world.size), -1.0)  # what lies behind the result shows what is written there
found = memory[:rows]  # a column for the elements of each rank
column = MPI.DOUBLE.Create_hvector(rows, 1, 8 * world.size).Create_resized(0, 8).Commit()
world.Gather([block, rows, MPI.DOUBLE], [found, 1, column] if world.rank == root else None, root)
wrong = 0
if world.rank == root:
    wanted = np.stack([np.arange(rows) + 1000.0 * rank for rank in range(world.size)], axis=1)
    behind = np.count_nonzero(memory[rows:] != -1)
    wrong = int((found != wanted).any() or behind > 0)
    print(f"first rows expected {wanted[:3].tolist()}, observed {found[:3].tolist()}")
    print(f"elements written behind the result: {behind}")
sys.exit(world.bcast(wrong, root))
