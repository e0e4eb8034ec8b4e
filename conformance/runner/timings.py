"""Where the seconds of a run went, for each backend: those of this process, and beside them those of its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.clock import Clock, Phase

HERE: Final = ("drawing", "meaning", "transport", "judging", "waiting", "minimising", "other")
"""What this process does, one thing at a time: these come to the seconds of the run."""

THERE: Final = ("execution", "compile", "rest")
"""What the processes of a backend do meanwhile."""

Timings = Mapping[str, float]
"""Seconds by one of these words."""


def timings(clock: Clock, backends: Sequence[BackendRun], seconds: float) -> dict[str, Timings]:
    """Return what each backend's cases took of the ``seconds`` of a run, and what its processes did in them.

    What was done for all backends is shared out in equal parts.
    """
    found: dict[str, Timings] = {}
    for backend in backends:
        spent = backend.worker.seconds
        here = {
            "drawing": _of(clock, backends, backend, "drawing"),
            "meaning": _of(clock, backends, backend, "reference"),
            "judging": _of(clock, backends, backend, "judging"),
            "waiting": _of(clock, backends, backend, "waiting"),
            "minimising": _of(clock, backends, backend, "minimising"),
        }
        # Requests are written and answers are read while others are waited for.
        transported = spent.transport if backend.transported is None else backend.transported
        here["transport"] = min(transported, here["waiting"])
        here["waiting"] -= here["transport"]
        here["other"] = max(0.0, seconds / len(backends) - sum(here.values()))
        there = {"execution": spent.execution, "compile": spent.compile, "rest": spent.rest}
        found[backend.name] = {name: round({**here, **there}[name], 3) for name in (*HERE, *THERE)}
    return found


def _of(clock: Clock, backends: Sequence[BackendRun], backend: BackendRun, phase: Phase) -> float:
    own = {each.name: clock.of_backend.get((each.name, phase), 0.0) for each in backends}
    shared = clock.seconds.get(phase, 0.0) - sum(own.values())
    return own[backend.name] + max(0.0, shared) / len(backends)
