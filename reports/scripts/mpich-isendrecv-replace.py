"""MPI_Isendrecv_replace of a strided datatype, to oneself, which should change nothing."""

import sys

import numpy as np
from mpi4py import MPI

wrong = False
for name, stride in (("contiguous", 1), ("strided", 2)):
    data = np.arange(1, 9, dtype=np.int32)
    expected = data.tolist()
    part = MPI.INT32_T.Create_vector(4, 1, stride).Commit()
    MPI.COMM_SELF.Isendrecv_replace([data, 1, part], 0, 0, 0, 0).Wait()
    wrong = wrong or data.tolist() != expected
    print(f"{name}: expected {expected}, observed {data.tolist()}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
