"""A case that was handed over to a backend, on its way to a verdict, alone or in company."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.judging.verdict import Verdict
from conformance.runner.dialect import Dialogue, Trial
from conformance.runner.records.company import Company
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.interface import Judgeable


@dataclass(eq=False)
class Inquiry:
    """A case that was handed over; ``outside`` is the claim that leaves it out, where it is asked to probe that.

    It is asked ``again`` where an earlier run said what it came to. Its questions go to the first of its ``workers``,
    those for elsewhere to the second; ``judged`` is the verdict once it is known. Nobody is ``owed`` one that is asked
    because there was time left. ``meeting`` is the company that left
    it to stand alone, and ``company`` what its record says of that.
    """

    trial: Trial
    origin: int
    dialogue: Dialogue
    outside: str | None = None
    again: bool = False
    owed: bool = True
    workers: tuple[Judgeable, ...] = ()
    judged: Verdict | None = None
    answers: list[Answer] = field(default_factory=list)
    company: Company | None = None
    meeting: Meeting | None = None


@dataclass(eq=False)
class Meeting:
    """Cases that are asked about together, or were, until all that follows from the answer is known.

    It is a part of a ``whole`` where that did not hold, or another company asked ``again``; or a case of the
    ``sample``, alone. ``kills`` counts the processes that it and its wholes have ended. ``verdicts`` are those in
    company of members that are left alone, by place, and
    ``broke`` that on the company where it failed as a whole. ``open`` counts the parts and members without a verdict;
    it is ``explained`` once one of them does not hold. ``held`` are members with verdicts that are not handed on before
    the outermost whole is done, ``doubts`` what nothing explains in it.
    """

    members: list[Inquiry]
    whole: Meeting | None = None
    again: Meeting | None = None
    sample: bool = False
    kills: int = 0
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    broke: Verdict | None = None
    open: int = 0
    explained: bool = False
    held: list[Inquiry] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    @property
    def root(self) -> Meeting:
        """Return the outermost whole that it is a part of."""
        return self if self.whole is None else self.whole.root

    @property
    def names(self) -> tuple[str, ...]:
        """Return the cases, in order."""
        return tuple(member.trial.name for member in self.members)


@dataclass(eq=False)
class Doubt:
    """A ``meeting`` that came to ``verdict``, as a whole or for the member at ``place``, and nobody alone does."""

    meeting: Meeting
    place: int
    verdict: Verdict
    times: int = 1
