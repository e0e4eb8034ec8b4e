"""The life of a process of JAX: ``python -m conformance.backends.jax.launched_process WHERE SECRET``."""

from __future__ import annotations

import os
import socket
import sys
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Final

import msgspec

from conformance.backends.jax import Jax
from conformance.backends.jax.devices import configured
from conformance.backends.jax.launched import DEVICES, Number
from conformance.backends.meeting import leave_with, met
from conformance.cases.case import Case
from conformance.cases.observation import Observation

if TYPE_CHECKING:
    from jax import Device

TOGETHER: Final = 50
"""Seconds that processes have to meet at the coordinator."""


class _Process(Jax):
    """JAX with the devices of all processes, of which it has some."""

    name = "jax-process"

    def __init__(self, devices: list[Device]) -> None:
        self._given = devices
        super().__init__()

    def _start(self) -> list[Device]:
        return self._given

    def here(self, case: Case, first: int) -> Observation:
        """Run ``case``, which has the blocks of the ranks from ``first`` on that are in this process."""
        seen = self.execute(case)
        moved = tuple(msgspec.structs.replace(one, rank=first + one.rank) for one in seen.touched)
        return msgspec.structs.replace(seen, touched=moved)


def main(where: str, secret: str) -> None:
    """Run the cases that come from the socket ``where`` until it ends."""
    end = met(where)
    threading.Thread(target=leave_with, args=(end.fileno(),), daemon=True).start()
    host = end.getsockname()[0] if end.family == socket.AF_INET else "127.0.0.1"
    with socket.create_server((host, 0)) as free:
        port = free.getsockname()[1]
    channel = Connection(end.detach())
    channel.send_bytes(f"{secret} {host} {port}".encode())
    told = msgspec.msgpack.decode(channel.recv_bytes(), type=Number)
    jax = configured(told.devices)
    jax.distributed.initialize(
        told.coordinator,
        told.processes,
        told.process,
        cluster_detection_method="deactivate",
        initialization_timeout=TOGETHER,
        coordinator_bind_address=told.coordinator,
    )
    devices = sorted(jax.devices(), key=lambda device: (device.process_index, device.id))
    if len(devices) != told.processes * told.devices:
        raise RuntimeError(f"processes have {len(devices)} devices, and not {told.devices} each, as {DEVICES} says")
    process = _Process(devices)
    channel.send_bytes(b"in")
    decode, encode = msgspec.msgpack.Decoder(tuple[int, Case]).decode, msgspec.msgpack.Encoder().encode
    while True:
        try:
            _, case = decode(channel.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)  # Others may wait for this one, and an orderly exit for them.
        channel.send_bytes(encode(process.here(case, told.process * told.devices)))


if __name__ == "__main__":
    main(*sys.argv[1:])
