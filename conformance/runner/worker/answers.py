"""What comes back for a case that was handed to a worker, and the limits a worker lives under."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.types.typed_case import TypedCase

BrokenOutcome = Literal["crashed", "timeout", "protocol_error", "not_run"]


class StartError(RuntimeError):
    """A backend did not start; the message says how it ended and the last thing it wrote."""


@dataclass(frozen=True)
class Limits:
    """``start`` and ``case`` are seconds without progress, ``memory`` bytes of the whole process tree.

    ``restarts`` bounds the processes after the first; ``window`` the cases in flight: answers come in order, so it is
    what a backend that runs several at a time has left to do while the oldest of them hangs. ``until`` is the moment of
    ``time.monotonic`` after which nobody who has not introduced himself is waited for, and ``spent`` the one after
    which no answer is. ``sandboxed`` processes have other processes, the network and most files kept from them
    (``runner/worker/sandbox.py``).
    """

    start: float = 90.0
    case: float = 20.0
    memory: int = 4 << 30
    restarts: int = 300
    window: int = 512
    until: float = math.inf
    sandboxed: bool = False
    spent: float = math.inf


@dataclass(frozen=True)
class Question:
    """The schedule of a program or of a graph, asked for instead of running it; ``planned`` with a memory plan.

    With ``after`` it is run, and asked for is the schedule of what remains to be done. ``iteration``, ``switched`` and
    ``costs`` are another circumstance, as in ``Backend.reschedule``.
    """

    asked: Case | Graph
    planned: bool = True
    after: bool = False
    iteration: int = 0
    switched: bool = False
    costs: int | None = None

    troubled: ClassVar = False
    """Nothing befalls a rank."""

    @property
    def again(self) -> bool:
        """Return whether another circumstance is asked about."""
        return self.iteration > 0 or self.switched or self.costs is not None


@dataclass(frozen=True)
class Company:
    """Cases that are asked about together: programs of one mesh, or graphs. The answer is a ``Joint`` observation."""

    cases: tuple[Case | GraphCase, ...]

    troubled: ClassVar = False
    """Nothing befalls a rank."""


Request = Case | Question | TypedCase | GraphCase | ShardedCase | Company
"""What a worker may be asked: to run one of several kinds of cases, for a schedule, or for types or cotangents."""


@dataclass(frozen=True)
class Broken:
    """No observation: how the backend broke, in words, and the last it wrote on standard error.

    ``error`` is the signal or the exit status that ended its process, where it ended by itself.
    """

    outcome: BrokenOutcome
    detail: str
    stderr_tail: str = ""
    error: str | None = None


@dataclass(frozen=True)
class Answer:
    """An observation, or how the backend broke. ``note`` keeps evidence that ``result`` alone does not show.

    ``process`` numbers the process that gave it; answers of one process come in the order in which it worked.
    It was ``alone`` when that process had worked on nothing else. ``unrepeated`` is how an earlier process broke with
    the case under way, which alone in a fresh one it did not.
    """

    result: Observation | Broken
    note: str | None = None
    process: int = 0
    alone: bool = False
    unrepeated: Answer | None = None

    @property
    def broken(self) -> Broken | None:
        """Return how the backend broke, if it did."""
        return self.result if isinstance(self.result, Broken) else None
