"""The worker protocol: JSON lines on a private pair of file descriptors, requests in order, replies in order.

Requests may be pipelined: the runner sends several ``Run`` lines before it reads replies. Expected values
are never sent. The file descriptors are named by the environment variables ``CONFORMANCE_READ`` and
``CONFORMANCE_WRITE``; standard output is left to the implementation and never parsed. Files that cases and
observations travel in have plain names in the folder that ``CONFORMANCE_FILES`` names; the runner removes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from conformance.backends.base import PATIENCE
from conformance.backends.claim_limits import unhealthy
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import check_guarantees
from conformance.cases.declarations.number_model import number_model
from conformance.cases.declarations.terms import Terms, check_follows, terms
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation, Seconds
from conformance.cases.program.operation import Operation
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.typed_case import TypedCase

VERSION: Final = 1
READ: Final = "CONFORMANCE_READ"
WRITE: Final = "CONFORMANCE_WRITE"
FILES: Final = "CONFORMANCE_FILES"

MOST_TEXT: Final = 1 << 16
"""Characters that a backend may describe itself with: the log, the page and Markdown have all of them."""

INLINE: Final = 1 << 16
"""Bytes of tensors up to which a case or an observation stays inline: with their hex digits, two pipes full."""

MOST_TOGETHER: Final = 256
"""Cases in one company: each is some 90 KiB in the runner while it is open."""

Kind = Literal["programs", "graphs"]
"""What companies are made of."""


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """First request. ``operations`` are the rows of the specification's table, of which a backend may ask."""

    protocol: int = VERSION
    operations: tuple[Operation, ...] = ()


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """Execute one case; answered by ``Done`` with the same ``seq``.

    ``case`` is inline, or ``file`` names a case file (``conformance.cases.codec``) when it is large. With a case with
    trouble (``Case.troubled``) comes a ``health`` program, always inline, which the same ranks run afterwards.
    """

    seq: int
    case: Case | None = None
    file: str | None = None
    health: Case | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True, tag="schedule"):
    """Make the schedule of a program or of a graph; answered by ``Done`` with the same ``seq``, inline.

    The observation has the schedule, unchecked, or one error. Asked only while no ``Run`` is unanswered.
    """

    seq: int
    case: Case | None = None
    graph: Graph | None = None
    planned: bool = True


class Replan(msgspec.Struct, frozen=True, kw_only=True, tag="reschedule"):
    """Make the schedule of a program or a graph in another circumstance (``Backend.reschedule``); else as ``Plan``."""

    seq: int
    case: Case | None = None
    graph: Graph | None = None
    iteration: int = 0
    switched: bool = False
    costs: int | None = None


class Remaining(msgspec.Struct, frozen=True, kw_only=True, tag="remaining"):
    """Run a program or a graph and schedule what remains to be done (``Backend.remaining``); else as ``Plan``."""

    seq: int
    case: Case | None = None
    graph: Graph | None = None


class Type(msgspec.Struct, frozen=True, kw_only=True, tag="type"):
    """Give the types and values of a typed program, or pull cotangents back; answered by ``Done``.

    The observation has ``types`` and results, or, of a case with cotangents, those of the inputs as results, or one
    error a rank. Asked only while no ``Run`` is unanswered.
    """

    seq: int
    case: TypedCase


class RunGraph(msgspec.Struct, frozen=True, kw_only=True, tag="graph"):
    """Run a graph case (``Backend.graph``); answered by ``Done`` with the same ``seq``.

    ``case`` is inline, or ``file`` names the file of a graph case (``conformance.cases.graph.codec``) when it is large.
    The observation has a block, as of one rank, for every key of ``conformance.cases.graph.case.keys``, or one error.
    """

    seq: int
    case: GraphCase | None = None
    file: str | None = None


class RunSharded(msgspec.Struct, frozen=True, kw_only=True, tag="sharded"):
    """Run a program on sharded tensors (``Backend.sharded``); answered by ``Done`` with the same ``seq``.

    ``case`` is inline, or ``file`` names the file of a sharded case (``conformance.cases.sharded.codec``). The
    observation has a tensor a device, or ``None``, and a layout for every key, or an error a device.
    """

    seq: int
    case: ShardedCase | None = None
    file: str | None = None


class RunTogether(msgspec.Struct, frozen=True, kw_only=True, tag="together"):
    """Execute several programs, or several graphs, in company; answered by ``Done`` with the same ``seq``.

    Sent to those that say so (``Ready.together``), inline. The cases are legal, nothing befalls a rank, and programs
    have one mesh. ``Done.together`` has an observation a case, in order; else ``observation`` has one error, which is
    about the company. Asked only while no request of another kind is unanswered.
    """

    seq: int
    programs: tuple[Case, ...] = ()
    graphs: tuple[GraphCase, ...] = ()


class Stop(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """Last request; the worker exits with status 0."""


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """Answer to ``Hello``: what a ``Backend`` says of itself.

    ``patience`` is in seconds, and more than 0; ``case_limit`` too, and 0 where a case needs no more than a run allows.
    ``examples`` is how many draws of an operation are asked of it, and 0 for all. One that ``adapts`` a framework marks
    exceptions of its own lines (the category ``adapter``), so that every other one is the framework's.
    ``together`` says how many cases one compilation takes as
    independent results, of ``programs`` and of ``graphs``: 2 or more, and none where it is silent.
    """

    protocol: int
    name: str
    description: dict[str, str]
    claims: dict[str, dict[str, list[str]]]
    guarantees: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    number_model: dict[str, Any] = {}
    patience: float = PATIENCE
    case_limit: float = 0.0
    examples: int = 0
    adapts: bool = False
    together: dict[Kind, int] = {}

    @property
    def terms(self) -> Terms:
        """Return what decides how the answers are judged."""
        return terms(self.guarantees, self.follows, self.number_model)

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for what is no guarantee, source or number, lone claims of faults, and long text."""
        check_guarantees(self.guarantees)
        check_follows(self.follows)
        number_model(self.number_model)
        left_out = unhealthy(self.claims)
        if left_out:
            raise ValueError(left_out)
        if not 0 < self.patience < math.inf:
            raise ValueError(f"patience is {self.patience}; it must be a number of seconds above 0")
        if not 0 <= self.case_limit < math.inf:
            raise ValueError(f"case_limit is {self.case_limit}; it must be a number of seconds, or 0")
        if (told := len(self.name) + sum(map(len, (*self.description, *self.description.values())))) > MOST_TEXT:
            raise ValueError(f"it describes itself in {told} characters; at most {MOST_TEXT} are right")
        if self.examples < 0:
            raise ValueError(f"examples is {self.examples}; it must be a number of draws, or 0 for all")
        for kind, most in self.together.items():
            if not 2 <= most <= MOST_TOGETHER:
                raise ValueError(f"together has {most} {kind}; 2 to {MOST_TOGETHER} are right, or no word of them")


class Unfit(msgspec.Struct, frozen=True, kw_only=True, tag="unfit"):
    """Answer to ``Hello`` of a backend whose declarations are wrong: ``problem`` says how, in one line."""

    problem: str


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker spent since its last answer: seconds of compilers, and all of them in which it had a request."""

    compile: Seconds = 0.0
    busy: Seconds = 0.0


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """Answer to ``Run``, ``Plan``, ``Replan`` and ``Remaining``.

    What the ranks do in the ``health`` program of a ``Run`` is the ``health`` of the observation.
    ``observation`` is inline, or ``file`` names an observation file (``conformance.cases.observation_file``).
    ``spent`` may say where the time went; no verdict depends on it.
    Answer to ``RunTogether``: ``together``, an observation a case, or ``observation`` with an error of the company.
    """

    seq: int
    observation: Observation | None = None
    file: str | None = None
    spent: Spent | None = None
    together: tuple[Observation, ...] = ()


def tensor_bytes(tensors: Iterable[Tensor | None]) -> int:
    """Return the bytes of the tensors that are there, to be held against ``INLINE``."""
    return sum(len(tensor.bits) // 2 for tensor in tensors if tensor is not None)


Request = Hello | Run | RunTogether | RunGraph | RunSharded | Plan | Replan | Remaining | Type | Stop
Reply = Ready | Unfit | Done
