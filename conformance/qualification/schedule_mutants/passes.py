"""Mistakes in what the native engine does to communication, each in one of its passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import count
from typing import Any, ClassVar
from unittest.mock import patch

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.graph import registration
from conformance.backends.opencl.graph.node import Join, Movement, Node
from conformance.backends.opencl.graph.trace import Traced
from conformance.backends.opencl.lower import Lowered, algorithm
from conformance.backends.opencl.schedule import communication_pool, overlap
from conformance.backends.opencl.schedule import schedule as scheduling
from conformance.backends.opencl.schedule.arena import Life
from conformance.backends.opencl.schedule.elision import in_place
from conformance.backends.opencl.schedule.legal_orders import reordered
from conformance.backends.opencl.settings import Algorithm, Settings
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.legal_schedules.engine import Scheduler

_ENGINE = "conformance.backends.opencl"

_SCHEDULED: Callable[..., tuple[scheduling.Schedule, Lowered]] = import_module(f"{_ENGINE}.dry_run").scheduled


class _Pass(Scheduler):
    """The native engine, its schedules of graphs too, with ``wrong`` in the ``place`` of a function of a pass."""

    corpus: ClassVar[tuple[str, ...]] = ()
    place: ClassVar[str] = ""
    """Module and function, parted by a colon; none in the engine that is right."""

    def __init__(self) -> None:
        """Take the engine's own settings."""
        OpenCL.__init__(self, Settings())

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return the native engine's schedule."""
        return OpenCL.schedule(self, asked, planned=planned)

    def _scheduled(self, asked: Case | Graph, settings: Settings) -> Schedule:
        if not self.place:
            return super()._scheduled(asked, settings)
        module, _, name = self.place.partition(":")
        # By import, for some modules have the name of a function of their package.
        with patch.object(import_module(f"{_ENGINE}.{module}".rstrip(".")), name, self.wrong):
            return super()._scheduled(asked, settings)

    def wrong(self, *given: Any, **more: Any) -> Any:
        """Do what the function does, wrongly."""
        raise NotImplementedError


class PoolServesWhatIsStillRead(_Pass):
    """A block of the pool is free again as soon as its value has been written."""

    breaks: ClassVar[str] = "memory.C1"
    place: ClassVar[str] = "schedule.memory_plan:pooled"

    def wrong(self, registered: Any, lives: Mapping[Node, Life], *rest: Any, **more: Any) -> Any:
        """Take values for needed by no item but the first."""
        short = {node: life._replace(last=life.first) for node, life in lives.items()}
        return communication_pool.pooled(registered, short, *rest, **more)


class PoolIsNamedByBlocks(_Pass):
    """Allocations are numbered anew for each program, so that two of them have the same. Seen in pytorch#180858."""

    breaks: ClassVar[str] = "communication.C11"
    place: ClassVar[str] = ":lasting"

    def wrong(self, *_compiled: object) -> str:
        """Name all pools alike."""
        return "pool, block "


class PoolIsNamedByACounter(_Pass):
    """Memory is taken from the pool whenever a program is asked for, so that no iteration has that of another."""

    breaks: ClassVar[str] = "communication.C10"
    place: ClassVar[str] = ":lasting"

    def __init__(self) -> None:
        """Begin with the first."""
        super().__init__()
        self._made = count()

    def wrong(self, *_compiled: object) -> str:
        """Number pools as they are asked for."""
        return f"pool {next(self._made)} block "


class CopiedWithinThePool(_Pass):
    """Who meets an operand first takes it as it lies, and who meets it beside another one copies it from there."""

    breaks: ClassVar[str] = "communication.C5"
    place: ClassVar[str] = "lower.operands:registrable"

    def __init__(self) -> None:
        """Begin with no operand."""
        super().__init__()
        self._first: dict[Node, registration.Meeting] = {}

    def wrong(self, group: Any, asked: Sequence[Movement], made: Any, meetings: Any, results: Any) -> bool:
        """Know of no other meeting of the group than the first."""
        own = group, tuple(block.node for block in asked)
        known = {node: {each for each in meetings[node] if each[0] != group} | {own} for node in own[1]}
        alone = all(self._first.setdefault(node, own) == own for node in own[1])
        return alone and registration.registrable(group, asked, made, known, results)


class EverySecondCallByAnother(_Pass):
    """Which algorithm is taken hangs on what was called before, which is no part of what it may hang on."""

    breaks: ClassVar[str] = "communication.C15"
    place: ClassVar[str] = "lower.operands:choose"

    def __init__(self) -> None:
        """Begin with the first call."""
        super().__init__()
        self._calls = count()

    def wrong(self, *given: Any, **more: Any) -> Algorithm:
        """Do every second of what is done directly by a tree."""
        found = algorithm.choose(*given, **more)
        return "tree" if found != "one_shot" and next(self._calls) % 2 else found


class SumOverWhatIsReadLater(_Pass):
    """An operand is overwritten though something that comes later reads it."""

    breaks: ClassVar[str] = "law.C1"
    place: ClassVar[str] = "schedule.schedule:in_place"

    def wrong(self, order: Sequence[Node], *rest: Any) -> Any:
        """Look for readers up to the last result only."""
        last = max((number for number, node in enumerate(order) if isinstance(node, Join)), default=-1)
        return in_place.in_place(order[: last + 1], *rest)


class CallOfWhatNeedsItself(_Pass):
    """Small all_reduces become one call though one is computed of another, as buckets were in PyTorch #187341."""

    breaks: ClassVar[str] = "order.C1"
    place: ClassVar[str] = "fuse.bucketing:_depth"

    def wrong(self, *_: Any) -> float:
        """Say that nothing needs a collective."""
        return -1


class SeveralInOneShot(_Pass):
    """Each piece of a call is done as if it were alone."""

    breaks: ClassVar[str] = "communication.C16"
    place: ClassVar[str] = "lower.operands:choose"

    def wrong(self, *given: Any, pieces: int, **more: Any) -> Algorithm:
        """Forget that there are several pieces."""
        return algorithm.choose(*given, pieces=min(pieces, 1), **more)


class OneShotBelowTheThreshold(_Pass):
    """Of exactly as many bytes as are allowed an operand is not done in one shot."""

    breaks: ClassVar[str] = "communication.C13"
    place: ClassVar[str] = "lower.operands:choose"

    def wrong(self, *given: Any, width: int, **more: Any) -> Algorithm:
        """Count a byte more."""
        return algorithm.choose(*given, width=width + 1, **more)


class RaisedPastItsOperand(_Pass):
    """A collective begins before all computation, that of its operand too."""

    breaks: ClassVar[str] = "order.C1"
    place: ClassVar[str] = "schedule.schedule:overlapped"

    def wrong(self, order: overlap.Staged, turns: Any, estimate: Any) -> overlap.Staged:
        """Put what belongs to collectives first."""
        made = overlap.overlapped(order, turns, estimate)
        return sorted(made, key=lambda pair: (pair[1], pair[0] not in turns))


class OrderedByEstimates(_Pass):
    """Each rank orders what it enters by what it is estimated to take. Seen in torchrec#4149."""

    breaks: ClassVar[str] = "communication.C23"
    place: ClassVar[str] = "dry_run:scheduled"

    def wrong(self, traced: Traced, settings: Settings, alignment: int) -> tuple[scheduling.Schedule, Lowered]:
        """Let random estimates reorder items, those of one collective not in a row."""
        made, lowered = _SCHEDULED(traced, settings, alignment)
        return (made if settings.estimates is None else reordered(made, {}, settings.estimates)), lowered
