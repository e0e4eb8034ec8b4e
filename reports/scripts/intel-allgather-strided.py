"""MPI_Allgather of a strided datatype: run as it is, it starts itself with three ranks under mpiexec."""

import os
import subprocess
import sys

if "--rank" not in sys.argv:
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    launcher = beside if os.path.exists(beside) else "mpiexec"
    sys.exit(subprocess.run([launcher, "-n", "3", sys.executable, __file__, "--rank"], check=False).returncode)

import numpy as np
from mpi4py import MPI

world, wrong = MPI.COMM_WORLD, 0
for count in (2, 7, 9, 64):  # which of them are wrong differs from machine to machine
    source = np.arange(2 * count, dtype=np.int32) + 1000 * world.rank
    every_other = MPI.INT32_T.Create_hvector(count, 1, 8).Commit()
    found = np.full(count * world.size, -1, np.int32)
    world.Allgather([source, 1, every_other], [found, count, MPI.INT32_T])
    wanted = np.concatenate([np.arange(0, 2 * count, 2, dtype=np.int32) + 1000 * rank for rank in range(world.size)])
    differs = world.allreduce(int((found != wanted).any()), MPI.MAX)
    wrong = max(wrong, differs)
    if world.rank == 0:
        print(f"{count} elements: expected {wanted[:6].tolist()} ..., observed {found[:6].tolist()} ...")
sys.exit(wrong)
