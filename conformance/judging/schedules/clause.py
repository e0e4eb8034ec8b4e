"""Clauses about schedules, about pairs of them, and about answers without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from conformance.judging.clause import Requirement
from conformance.reference.schedule.facts import Facts

Finding = Literal["held", "broken", "silent"]
Relation = Literal[
    "afterwards", "again", "reordered", "rebound", "unplanned", "together", "cached", "dropped",
    "rerun", "switched", "estimated", "neighbours",
]  # fmt: skip
"""What a second schedule of the same graph is: of the graph after it has run, made again in another process, of the
same results in another order, with other values for its variables, or without a memory plan; ``cached`` is made again
in the same process, ``dropped`` of the graph with a node more that nothing needs. Of those asked for ``together`` it is
that of some, and a third one that of the rest. ``rerun`` is a later iteration of what was compiled once, ``switched``
made with every pass and algorithm for communication the other way, ``estimated`` with random costs, others on each
device; ``neighbours`` is of another program, that is compiled in the same process."""


@dataclass(frozen=True)
class _Sentence:
    """What all clauses have that a schedule can break; none is general or about an option, as those of programs are."""

    id: str
    text: str
    source: str
    general: ClassVar[bool] = False
    variant: ClassVar[bool] = False
    plain: ClassVar[bool] = False


@dataclass(frozen=True)
class ScheduleClause(_Sentence):
    """One sentence. ``check`` returns ``None`` when it holds, ``SILENT`` when it cannot tell, else item and reason.

    It cannot tell where an item that may break the sentence has no label, no provenance or no body to tell by.

    ``when`` says whether a schedule has anything that the sentence is about, and all that has to be known of it: of
    one that has not the clause is silent, for what is not there is neither right nor wrong. The ``last`` clauses speak
    only when no other *must* is broken: what a schedule computes that breaks one is not defined.
    """

    check: Callable[[Facts], str | None]
    when: Callable[[Facts], bool]
    requirement: Requirement = "must"
    last: bool = False
    suite: str = "schedules"


@dataclass(frozen=True)
class FormClause(_Sentence):
    """One sentence about what a schedule must be to be judged at all; the loader refuses what breaks it.

    ``when`` is as that of a ``ScheduleClause``.
    """

    when: Callable[[Facts], bool]
    requirement: Requirement = "must"
    suite: str = "schedules"


@dataclass(frozen=True)
class PairClause(_Sentence):
    """One sentence about a schedule and a second one that is its ``relation``; of some relations there are more.

    ``when`` is as that of a ``ScheduleClause``.
    """

    relation: Relation
    check: Callable[..., str | None]
    when: Callable[..., bool]
    requirement: Requirement = "must"
    suite: str = "schedules"


@dataclass(frozen=True)
class AnswerClause(_Sentence):
    """One sentence about what comes instead of a schedule: an exception, a hang, the end of a process."""

    requirement: Requirement = "must"
    suite: str = "schedules"


AnyScheduleClause = AnswerClause | FormClause | ScheduleClause | PairClause
