"""What the mutants share: the schedule of an engine that is right, spoilt."""

from __future__ import annotations

from abc import ABC, abstractmethod

from conformance.backends.base import Claims
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.settings import Settings
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.legal_schedules.engine import Scheduler


class Engine(Scheduler, ABC):
    """An engine with a mistake in the schedules it makes."""

    breaks: str
    corpus: tuple[str, ...] = ()

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule with the mistake, where there is occasion for it."""
        return self.spoil(super().schedule(asked, planned=planned))

    @abstractmethod
    def spoil(self, made: Schedule) -> Schedule:
        """Return the schedule with the mistake, the same where there is no occasion for it."""


class OfGraphs(Engine, ABC):
    """An engine with a mistake in the schedules of graphs alone."""

    @property
    def claims(self) -> Claims:
        """Return those of the engine without programs: a mutant that refused them would die of that."""
        return {op: limits for op, limits in super().claims.items() if op != "schedule_of_program"}


class Exported(Engine, ABC):
    """The native engine by its own settings, its schedules of graphs too, with a mistake in them."""

    def __init__(self) -> None:
        """Take the engine's own settings."""
        OpenCL.__init__(self, Settings())

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the native engine's schedule with the mistake."""
        return self.spoil(OpenCL.schedule(self, asked, planned=planned))
