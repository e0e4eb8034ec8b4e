"""A frozen observation: a case with the answers that somebody gave to what it asks, who is right or wrong about it."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.backends import protocol
from conformance.cases.observation import Observation
from conformance.cases.schedule.schedule import Schedule
from conformance.judging.schedules.clause import Relation
from conformance.runner.worker.answers import Answer, BrokenOutcome, Request
from conformance.runner.worker.answers import Broken as Ended
from conformance.vectors.stored import Form, read


class Broken(msgspec.Struct, frozen=True, tag="broken"):
    """An answer that is no observation: how the backend broke."""

    outcome: BrokenOutcome
    detail: str


class Given(msgspec.Struct, frozen=True, tag="given"):
    """An answer."""

    seen: Observation


class FrozenObservation(msgspec.Struct, frozen=True, kw_only=True):
    """What the backend ``by`` answered about a case, question by question; it is ``right``, or made to be wrong.

    Where it is ``altered``, in a word, the clauses say whether it is still right.

    ``ready`` is how it introduces itself: its terms decide how it is judged. Where there are ``schedules`` they are
    judged instead of answers, one alone, or the first with others that are its ``relation``.
    """

    name: str
    by: str
    right: bool
    suite: str
    op: str
    form: Form | None = None
    text: bytes = b""
    ready: protocol.Ready | None = None
    answers: tuple[Given | Broken, ...] = ()
    schedules: tuple[Schedule, ...] = ()
    relation: Relation | None = None
    altered: str = ""

    @property
    def case(self) -> Any:
        """Return the case, where it has one."""
        assert self.form is not None
        return read(self.form, self.text)


def frozen_answer(answer: Answer) -> Given | Broken:
    """Return an answer as it is kept; nothing that is judged is left out."""
    if isinstance(answer.result, Ended):
        return Broken(answer.result.outcome, answer.result.detail)
    return Given(msgspec.structs.replace(answer.result, seconds=0.0))


class Again:
    """Gives the answers of an observation once more, one after the other, whatever is asked."""

    def __init__(self, frozen: FrozenObservation) -> None:
        """Begin with the first."""
        self._answers = iter(frozen.answers)

    def ask(self, request: Request) -> Answer:
        """Return the next answer; one that was never given is that there are no words for it."""
        del request
        given = next(self._answers, Broken("not_run", "nothing was asked here before"))
        if isinstance(given, Broken):
            return Answer(Ended(given.outcome, given.detail))
        return Answer(given.seen)
