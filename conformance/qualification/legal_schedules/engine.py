"""What right and wrong engines share: the native engine's schedules of programs, and plain ones of graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.settings import Algorithm, Settings
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Access, Item, Kernel, Schedule
from conformance.qualification.legal_schedules.plain import plain


class Scheduler(OpenCL):
    """Schedules programs as the native engine does, without a device, and graphs as plainly as can be."""

    kind: ClassVar[str] = "schedule"

    algorithm: Algorithm = "ring"
    """Blocks that go round a ring are those with most values on the way."""

    def __init__(self) -> None:
        """Take the algorithm of the class, whatever the environment asks for."""
        super().__init__(Settings(force=self.algorithm))

    @property
    def alignment(self) -> int:
        """That of PoCL, without asking it."""
        return 128

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule of a program or of a graph; a plain one has no memory plan."""
        return plain(asked) if isinstance(asked, Graph) else super().schedule(asked, planned=planned)


class Legal(Scheduler, ABC):
    """An engine that is right in its own way."""

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the schedule of a graph done in another way; without a plan as it is."""
        made = super().schedule(asked, planned=planned)
        return self.change(made) if isinstance(asked, Graph) and planned else made

    @abstractmethod
    def change(self, made: Schedule) -> Schedule:
        """Return another right schedule, the same where there is no occasion for it."""


def inner(made: Schedule) -> dict[str, Buffer]:
    """Return the buffers that nobody sees from outside: all but those of the graph, and those of results."""
    asked = {str(node.arg) for node in (made.graph.nodes if made.graph else ()) if node.op == "buf"}
    seen = asked | {place.buffer for place in made.places}
    return {buffer.id: buffer for buffer in made.buffers if buffer.id not in seen and buffer.base is None}


def wholly(item: Item, buffer: Buffer) -> Access | None:
    """Return the one write of a kernel, if it has one body and writes that buffer."""
    if not isinstance(item, Kernel) or len(item.bodies) != 1:
        return None
    written = [access for access in item.accesses if access.write]
    return written[0] if len(written) == 1 and written[0].buffer == buffer.id else None
