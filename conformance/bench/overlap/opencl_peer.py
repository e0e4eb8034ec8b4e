"""The native engine: a step bound to storages that stay, and what of it computes or communicates alone."""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import replace
from typing import Any, Final

import numpy as np

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.runtime.bound import Bound
from conformance.backends.opencl.settings import DEVICES, from_environment
from conformance.bench.overlap.steps import Part, Step, inputs, program, wrong
from conformance.bench.overlap.timeline import trace_events

PARTS: Final[tuple[Part, ...]] = ("computation", "communication")


class OpenCLPeer:
    """A queue a rank, one process."""

    def __init__(self, ranks: int) -> None:
        """Open the devices, as parallel ones unless the environment says otherwise."""
        os.environ.setdefault(DEVICES, "pthread")
        self._backend = OpenCL(replace(from_environment(), queues=ranks))

    def describe(self) -> dict[str, str]:
        """Return what the backend says of itself."""
        return self._backend.describe()

    def prepare(self, point: Step) -> None:
        """Put the inputs on the devices, and run the step and its parts once."""
        self._step = point
        self._whole = self._bound("whole")
        self._parts = {part: self._bound(part) for part in PARTS}

    def once(self) -> None:
        """Start the step and wait for it."""
        self._whole.start()
        self._whole.wait()

    def meet(self) -> None:
        """Do nothing: there is one process."""

    def wrong(self) -> int:
        """Return how many elements of all ranks are wrong."""
        self.once()
        found = [self._backend.engine.read(self._whole.results[name]) for name in program(self._step).results]
        return sum(
            wrong([np.asarray(blocks[rank]) for blocks in found], self._step.expected(rank))
            for rank in range(self._step.ranks)
        )

    def parts(self, times: int) -> dict[str, tuple[float, float]]:
        """Return the median seconds of each part alone, and of all cores while it ran."""
        found: dict[str, tuple[float, float]] = {}
        for part, bound in self._parts.items():
            seconds, spent = [], []
            for _ in range(times):
                began, used = time.perf_counter(), time.process_time()
                bound.start()
                bound.wait()
                seconds.append(time.perf_counter() - began)
                spent.append(time.process_time() - used)
            found[part] = statistics.median(seconds), statistics.median(spent)
        return found

    def timeline(self) -> dict[str, Any]:
        """Return when each item of the step ran, as a trace that browsers show."""
        backend = OpenCL(replace(self._backend.settings, profile=True))
        engine = backend.engine
        given = {name: engine.put([(each, each) for each in blocks]) for name, blocks in inputs(self._step).items()}
        engine.start(program(self._step), given).wait()
        started = engine.start(program(self._step), given)
        return trace_events(started.plan.schedule, started.plan.lowered, started.timeline())

    def _bound(self, part: Part) -> Bound:
        engine = self._backend.engine
        given = {name: engine.put([(e, e) for e in blocks]) for name, blocks in inputs(self._step, part).items()}
        bound = engine.bind(program(self._step, part), given)
        bound.start()
        bound.wait()
        return bound


def peer(_rank: int, ranks: int, _folder: str) -> OpenCLPeer:
    """Return the peer."""
    return OpenCLPeer(ranks)
