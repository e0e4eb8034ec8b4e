"""A schedule that is asked for, as an observation: what a backend makes of a program or a graph, or what it raises."""

from __future__ import annotations

import random
import time

import msgspec

from conformance.backends.base import Backend
from conformance.backends.exceptions import rank_error
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.schedule.schedule import Schedule


def scheduled(
    backend: Backend,
    asked: Case | Graph,
    *,
    planned: bool = True,
    after: bool = False,
    iteration: int = 0,
    switched: bool = False,
    costs: int | None = None,
) -> Observation:
    """Return the observation that has the schedule of a program or a graph, or the error that was raised instead.

    With ``after`` it is the schedule of what remains to be done when that one has run; ``iteration``, ``switched`` and
    ``costs`` are those of ``Backend.reschedule``. Python's random numbers begin alike before each schedule, as they do
    where a script seeds them before it compiles: what schedules name cannot be told apart by them.
    """
    start = time.perf_counter()
    random.seed(0)
    try:
        made: Schedule
        if after:
            made = backend.remaining(asked)
        elif iteration or switched or costs is not None:
            made = backend.reschedule(asked, iteration=iteration, switched=switched, costs=costs)
        else:
            made = backend.schedule(asked, planned=planned)
        # The judge attaches the graph, and needs none of a backend's.
        made = msgspec.structs.replace(made, graph=None)
    except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its observation
        return Observation(errors=(rank_error(error, adapts=backend.adapts),), seconds=time.perf_counter() - start)
    return Observation(schedule=made, seconds=time.perf_counter() - start)
