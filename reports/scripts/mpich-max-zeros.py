"""MPI_Allreduce with MPI_MAX of +0.0 and -0.0: run as it is, it starts itself with two ranks under mpiexec."""

import os
import subprocess
import sys

if "--rank" not in sys.argv:
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    launcher = beside if os.path.exists(beside) else "mpiexec"
    sys.exit(subprocess.run([launcher, "-n", "2", sys.executable, __file__, "--rank"], check=False).returncode)

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
wrong = False
for count in (1, 12):
    found = np.empty(count, np.float32)
    world.Allreduce(np.full(count, (0.0, -0.0)[world.rank], np.float32), found, MPI.MAX)
    bits = [f"{each:#010x}" for each in world.allgather(int(found.view(np.uint32)[0]))]
    wrong = wrong or bits[0] != bits[1]
    if world.rank == 0:
        print(f"{count} elements: expected one zero on both ranks, observed the bits {bits[0]} and {bits[1]}")
if world.rank == 0:
    print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
