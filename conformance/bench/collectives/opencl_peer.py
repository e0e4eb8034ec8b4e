"""The native backend's engine: a program started on values that stay on the devices, and waited for."""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import replace

import numpy as np

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.runtime.bound import Bound
from conformance.backends.opencl.settings import DEVICES, from_environment
from conformance.bench.collectives.point import OPS, Point, wrong
from conformance.cases.program.program import Axis, Program, Step


class OpenCLPeer:
    """One device a rank, one process."""

    def __init__(self, ranks: int) -> None:
        """Open the devices, as parallel ones unless the environment says otherwise."""
        os.environ.setdefault(DEVICES, "pthread")
        self._backend = OpenCL(replace(from_environment(), queues=ranks))
        self._engine = self._backend.engine

    def describe(self) -> dict[str, str]:
        """Return what the backend says of itself."""
        return self._backend.describe()

    def prepare(self, point: Point) -> None:
        """Put the inputs on the devices, and run once."""
        self._point = point
        blocks = [point.block(rank) for rank in range(point.ranks)]
        # Released first: the next point may need their memory.
        self._bound: Bound | None = None
        self._inputs = {"x": self._engine.put([(block, block) for block in blocks])}
        self._bound = self._engine.bind(self._program(), self._inputs)
        self.once()

    def once(self) -> float:
        """Start the program on the same storages as ever, as the others call theirs, and wait for it."""
        assert self._bound is not None  # a point was prepared
        began = time.perf_counter()
        self._bound.start()
        launched = time.perf_counter() - began
        self._bound.wait()
        return launched

    def meet(self) -> None:
        """Do nothing: there is one process."""

    def wrong(self) -> int:
        """Return how many elements of all ranks differ."""
        self.once()
        assert self._bound is not None  # a point was prepared
        pairs = zip(self._engine.read(self._bound.results["y"]), self._point.expected(), strict=True)
        return sum(wrong(found, expected) for found, expected in pairs if found is not None)

    def overlap(self) -> list[tuple[float, float, float]]:
        """Return, round by round, the seconds of the collective, of a computation on the host, and of both at once.

        The computation takes one core about twice as long as the collective takes.
        """
        block = np.linspace(0, 1, 4096)
        alone = statistics.median(self._timed(0, block)[0] for _ in range(5))
        each = statistics.median(self._timed(50, block, collective=False)[0] for _ in range(5)) / 50
        times = max(1, round(2 * alone / each))
        return [
            (
                self._timed(0, block)[0],
                self._timed(times, block, collective=False)[0],
                self._timed(times, block)[0],
            )
            for _ in range(15)
        ]

    def _timed(self, times: int, block: np.ndarray, *, collective: bool = True) -> tuple[float, float]:
        began = time.perf_counter()
        started = self._engine.start(self._program(), self._inputs) if collective else None
        total = 0.0
        for _ in range(times):
            total += float(np.sin(block).sum())
        if started is not None:
            started.wait()
        return time.perf_counter() - began, total

    def _program(self) -> Program:
        point = self._point
        step = Step(op=point.op, inputs=("x",), outputs=("y",), axes=("ranks",), attrs=OPS[point.op].attrs)
        return Program(mesh=(Axis("ranks", point.ranks),), steps=(step,), results=("y",))


def peer(_rank: int, ranks: int, _folder: str) -> OpenCLPeer:
    """Return the peer."""
    return OpenCLPeer(ranks)
