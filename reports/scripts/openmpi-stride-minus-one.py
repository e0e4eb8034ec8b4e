"""A vector of bytes with a stride of -1, sent to oneself: the last byte first is wanted, and bytes past it are sent."""

import sys

import numpy as np
from mpi4py import MPI

source = np.arange(8, dtype=np.uint8)
backwards = MPI.BYTE.Create_hvector(4, 1, -1).Create_hindexed([1], [3]).Commit()
sent = np.full(4, 99, np.uint8)
MPI.COMM_SELF.Sendrecv([source, 1, backwards], 0, 0, [sent, 4, MPI.BYTE], 0, 0)
received = np.full(8, 99, np.uint8)
MPI.COMM_SELF.Sendrecv([source, 4, MPI.BYTE], 0, 0, [received, 1, backwards], 0, 0)
print(f"sent: expected [3, 2, 1, 0], observed {sent.tolist()}")
print(f"received: expected [3, 2, 1, 0, 99, 99, 99, 99], observed {received.tolist()}")
sys.exit(int(sent.tolist() != [3, 2, 1, 0] or received.tolist() != [3, 2, 1, 0, 99, 99, 99, 99]))
