"""The life of a rank under ``torchrun``: ``python -m conformance.backends.torch.launched_rank WHERE SECRET``."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any, Final

import msgspec
import torch
import torch.distributed as dist

from conformance.backends.meeting import leave_with, met
from conformance.backends.torch.c10d import OPERATIONS
from conformance.backends.torch.c10d_forms import FORMS
from conformance.backends.torch.processes.rank import Communicators, observe
from conformance.cases.case import Case

PATIENCE: Final = timedelta(seconds=1.5)
"""How long Gloo waits for other ranks: less than a case may take (``mpi.job.DEADLINE``)."""


def main(where: str, secret: str) -> None:
    """Run the cases that come from the socket ``where`` until it ends."""
    warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    rank, world = dist.get_rank(), dist.get_world_size()
    dist.distributed_c10d._set_pg_timeout(PATIENCE)  # noqa: SLF001 - it has no other
    end = met(where)
    threading.Thread(target=leave_with, args=(end.fileno(),), daemon=True).start()
    channel = Connection(end.detach())
    channel.send_bytes(f"{secret} {rank} {world}".encode())
    decode, encode = msgspec.msgpack.Decoder(tuple[int, Case]).decode, msgspec.msgpack.Encoder().encode
    communicators = Communicators(rank, world, PATIENCE)
    operations: dict[str, Any] = {**OPERATIONS, **FORMS}
    while True:
        try:
            _, case = decode(channel.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)  # Others may wait for this one, and an orderly exit for them.
        channel.send_bytes(encode(observe(case, rank, operations, communicators)))


if __name__ == "__main__":
    main(*sys.argv[1:])
