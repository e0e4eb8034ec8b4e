"""Programs on ``DTensor``: a process a device, told to compute and heard from again when all have."""

from __future__ import annotations

import importlib.util
import multiprocessing
import socket
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from conformance.bench.graphs.competitors import CORES, OfTorch, Ready
from conformance.bench.sharded.programs import PROGRAMS, Program
from conformance.cases.tensor.dtypes import Array

PATIENCE = 120.0
"""Seconds that ranks may take to answer; the first import of Torch is among them."""


class Ranks:
    """The processes of one world, started when first needed."""

    def __init__(self, world: int) -> None:
        """Start nothing yet."""
        self._world = world
        self._channels: list[Connection] = []
        self._processes: list[Any] = []

    def ready(self, program: Program, inputs: tuple[Array, ...]) -> Ready:
        """Return a program whose inputs the ranks hold; raise ``RuntimeError`` where one of them raised."""
        if importlib.util.find_spec("torch") is None:
            raise ModuleNotFoundError("No module named 'torch'")
        if not self._channels:
            self._start()
        self._ask(("load", program.of.name, inputs))
        return Ready(lambda: self._ask(("run",)), lambda _: np.asarray(self._ask(("array",))))

    def close(self) -> None:
        """End the processes."""
        for channel in self._channels:
            channel.close()
        for process in self._processes:
            process.join(5)
            process.kill()
        self._channels, self._processes = [], []

    def _start(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = multiprocessing.get_context("spawn")
        for rank in range(self._world):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, rank, self._world, port), daemon=True)
            process.start()
            theirs.close()
            self._channels.append(ours)
            self._processes.append(process)

    def _ask(self, request: tuple[Any, ...]) -> Any:
        """Return what the first rank answers once all have."""
        for channel in self._channels:
            channel.send(request)
        answers = []
        for rank, channel in enumerate(self._channels):
            if not channel.poll(PATIENCE):
                self.close()
                raise RuntimeError(f"rank {rank} gave no answer in {PATIENCE:.0f} s")
            answers.append(channel.recv())
        for error, _ in answers:
            if error:
                # Others may wait in a collective for the one that raised.
                self.close()
                raise RuntimeError(error)
        return answers[0][1]


def serve(channel: Connection, rank: int, world: int, port: int) -> None:
    """Answer as one rank until the channel ends."""
    warnings.filterwarnings("ignore")
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    torch.set_num_threads(max(1, CORES // world))
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    mesh = DeviceMesh("cpu", torch.arange(world))
    found: Any = None
    made: Callable[[], Any] = lambda: None  # noqa: E731 - until something is loaded

    def at(axis: int | None) -> list[Any]:
        return [Replicate() if axis is None else Shard(axis)]

    while True:
        try:
            kind, *rest = channel.recv()
        except EOFError:
            break
        try:
            if kind == "load":
                program, inputs = PROGRAMS[rest[0]], rest[1]
                pairs = zip(inputs, program.cut, strict=True)
                given = [distribute_tensor(torch.from_numpy(each), mesh, at(axis)) for each, axis in pairs]

                def made(program: Program = program, given: list[Any] = given) -> Any:
                    return program.of.made(OfTorch(torch), *given).redistribute(mesh, at(program.out)).to_local()

                made()
                channel.send(("", None))
            elif kind == "run":
                found = made()
                found = found.wait() if hasattr(found, "wait") else found
                channel.send(("", None))
            else:
                parts = [torch.empty_like(found) for _ in range(world)]
                dist.all_gather(parts, found.contiguous())
                out = program.out
                channel.send(("", (parts[0] if out is None else torch.cat(parts, out)).numpy()))
        except Exception as error:  # noqa: BLE001 - whatever a rank raises is told
            channel.send((f"{type(error).__name__}: {error}", None))
    dist.destroy_process_group()
